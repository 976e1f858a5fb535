"""The micro world: arithmetic that a tiny language model half knows.

Questions (`questions`) fall into six families, which are trained and tested (ID), and three more that are only
tested (OOD). Each has a short worked answer (`procedures`) that ends in `\\boxed{}`, such as

    646+475?  ->  6+5=11;4+7+1=12;6+4+1=11;\\boxed{1121}

The base policy is a small Llama that is pre-trained (`pretrain`) on such answers, part of them wrong
(`demonstrations`) in two ways. A systematic error, the family's own misconception, gives one
concentrated wrong answer, which a vote cannot repair. Independent slips in single steps scatter the wrong
answers and leave the truth a plurality, which a vote finds. So supervision methods separate here
within a minute of CPU training, for reasons that are known.

    procedures      worked answers, right or systematically wrong
    questions       what is asked: families, levels, sampling
    demonstrations  where and how the pre-training answers are wrong
    splits          pool, panel, benchmarks and pre-training: disjoint by the hash of the text
    paraphrase      a second way to ask a question, with the same answer
    tokenizer       65 tokens and the chat template
    optimiser       Muon for the matrices of the layers
    pretrain        the base policy

Trade-off taken: the world was designed so that majority voting has something to gain. "TTRL helps" is a
property of it and no evidence about language models.
"""
