# What the once driver for zsh executes.
__sg_take; builtin eval "$__sg_code"
