# What the once driver for bash executes, joined into one line, so that the
# user's command begins at line 1. Traces and traps of the user's that meet our
# code are not seen; an EXIT trap writes where the command did.
__sg_take;
{ builtin eval "$__sg_code" >&3 2>&4 3>&- 4>&-; __sg_end; } 3>&1 4>&2 >/dev/null 2>&1
