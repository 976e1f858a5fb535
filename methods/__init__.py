"""Methods of data-efficient RLVR: each one file that reads like its paper.

A method decides what the reward is, on four surfaces (`methods.base`), and sees nothing but
`methods.groups.RolloutGroups`: no Ray, no verl, no hidden truth.
"""
