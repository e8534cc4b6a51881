"""A slow, naive second reading of the specification, used only by the tests beside it.

Nothing here shares code with the Rust crates: each module was written from the pages under docs/spec and is kept
plain enough to be checked against them by eye. Where the two disagree, the page decides.
"""
