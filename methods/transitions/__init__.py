"""Offline transitions: how labels change between rounds of training (DE-Venus, sections 2.3 and 2.6).

A round trains on the data D(k), then probes the pool with the policy that it reached; the probe rollouts
never update the policy. A transition decides from all probes so far which labels change, and the runner writes
that decision as a manifest and as D(k+1). Nothing here touches a file.
"""
