# Tells the terminal what an interactive bash does: where a prompt begins, what
# was read, how it ended, which directory. Every marker carries a nonce, which is
# in no environment. Nothing here may fail under `set -eu`, print, or change $?.

__glass_mark() {
  # A trace (`set -x`) would show the nonce. `local -` would do more than this.
  { local __glass_kept=$-; builtin set +x; } 2>/dev/null
  builtin printf '\e]633;%s;%s\a' "$1" "$__glass_nonce"
  { case $__glass_kept in *x*) builtin set -x ;; esac; } 2>/dev/null
}

# A marker with a value, unless nobody would read one so long.
__glass_tell() {
  local LC_ALL=C __glass_text
  if ((${#2} > 32768)); then builtin return 0; fi
  __glass_escape "$2"
  if ((${#__glass_text} <= 32768)); then __glass_mark "$1$__glass_text"; fi
}

# A value as the markers carry it, into __glass_text; no process is made.
__glass_escape() {
  local LC_ALL=C s=$1 i c
  case $s in *[\\\;[:cntrl:]]*) ;; *) __glass_text=$s; builtin return 0 ;; esac
  s=${s//\\/\\\\}
  s=${s//;/\\x3b}
  s=${s//$'\n'/\\x0a}
  s=${s//$'\t'/\\x09}
  if [[ $s == *[[:cntrl:]]* ]]; then
    __glass_text=
    for ((i = 0; i < ${#s}; i++)); do
      c=${s:i:1}
      if [[ $c == [[:cntrl:]] ]]; then builtin printf -v c '\\x%02x' "'$c"; fi
      __glass_text+=$c
    done
  else
    __glass_text=$s
  fi
}

# First among the prompt's commands: the end, and where, is told before anybody
# prints.
__glass_first() {
  local s=$?
  if [[ ${PWD-} != "${__glass_cwd-}" ]]; then
    __glass_cwd=$PWD
    __glass_tell 'P;Cwd=' "$PWD"
  fi
  if [[ ${__glass_state-0} == 2 ]]; then __glass_mark "D;$s"; fi
  __glass_state=0
  if [[ $- == *e* ]]; then builtin return 0; fi
  builtin return "$s"
}

# Last among them: whatever prompt the others have made is wrapped.
__glass_last() {
  local s=$?
  if builtin shopt -q promptvars; then
    if [[ -z ${__glass_ps1-} || ${PS1-} != "${__glass_ps1-}" ]]; then
      __glass_ps1='\[${__glass_z+${__glass_z:$((__glass_state=1,__glass_number=\!,0)):0}}\]'
      __glass_ps1+=${PS1-}'\[\e]633;B;${__glass_nonce-}\a\]'
      PS1=$__glass_ps1
    fi
    if [[ -z ${__glass_ps2-} || ${PS2-} != "${__glass_ps2-}" ]]; then
      __glass_ps2='\[${__glass_z+${__glass_z:$((__glass_state=3,0)):0}}\]'${PS2-}
      PS2=$__glass_ps2
    fi
    if ((__glass_version >= 404)) && [[ ${PS0-} != *__glass_z* ]]; then
      PS0=${PS0-}'${__glass_z+${__glass_z:$((__glass_state=2,0)):0}$(__glass_begin \!)}'
    fi
  fi
  __glass_mark A
  if [[ $- == *e* ]]; then builtin return 0; fi
  builtin return "$s"
}

# A line was read; $1 is its number in the history, if it is there. A line that
# the history did not take is not told: it may be a secret.
__glass_begin() {
  local line
  line=$(HISTTIMEFORMAT='' builtin history 1 2>/dev/null)
  line=${line#*[0-9][ \*] }
  if [[ ${1-} == "$((__glass_number + (__glass_version < 500)))" ]]; then
    __glass_tell 'E;' "$line"
  elif [[ :${HISTCONTROL-}: == *:ignoredups:* || :${HISTCONTROL-}: == *:ignoreboth:* ]]; then
    # It may be the last line once more. The terminal knows what it showed.
    __glass_tell 'P;Last=' "$line"
  fi
  __glass_mark C
}

# Before 4.4 there is no PS0.
__glass_debug() {
  if [[ ${__glass_state-} == 1 && -z ${COMP_POINT-} && -z ${READLINE_POINT-} &&
    $BASH_COMMAND != __glass_* ]]; then
    __glass_state=2
    __glass_begin "$((__glass_number + 1))" >&2
  fi
}

# A command was handed over, perhaps. Whoever makes the file `taken` has it, and
# nobody else does.
__glass_take() {
  { local __glass_kept=$-; builtin set +x; } 2>/dev/null
  __glass_take_next
  { case $__glass_kept in *x*) builtin set -x ;; esac; } 2>/dev/null
}

__glass_take_next() {
  local nonce='' id='' line='' kept=$- taken=0
  builtin bind '"\e[6716~": redraw-current-line' 2>/dev/null
  if [[ ${__glass_state-} != 1 || ! -r $__glass_dir/next ]]; then
    if [[ -n ${__glass_draft-} && ${__glass_state-} == 1 ]]; then
      READLINE_LINE=$__glass_draft READLINE_POINT=${#__glass_draft}
      __glass_draft=
    fi
    builtin return 0
  fi
  {
    IFS= builtin read -r nonce || nonce=
    IFS= builtin read -r id || id=
    IFS= builtin read -r line || builtin :
  } <"$__glass_dir/next" 2>/dev/null
  if [[ $nonce != "$__glass_nonce" || $id == *[!0-9]* || -z $id ]]; then builtin return 0; fi
  builtin set -o noclobber
  if { builtin : >"$__glass_dir/taken.$id"; } 2>/dev/null; then taken=1; fi
  case $kept in *C*) ;; *) builtin set +o noclobber ;; esac
  if [[ $taken == 0 ]]; then builtin return 0; fi
  __glass_mark "P;Taken=$id"
  # An empty line does not take the place of one that still waits.
  if [[ -n ${READLINE_LINE-} ]]; then
    __glass_draft=$READLINE_LINE
    __glass_mark "P;Draft=1"
  fi
  READLINE_LINE=$line READLINE_POINT=${#line}
  builtin bind '"\e[6716~": accept-line' 2>/dev/null
  builtin return 0
}

__glass_install() {
  local keymap first='__glass_first' last='__glass_last' trapped
  builtin unset -v __glass_startup __glass_file
  builtin unset -f __glass_install
  case $- in *i*) ;; *) builtin return 0 ;; esac
  if ((__glass_version >= 501)); then
    PROMPT_COMMAND=("$first" ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"} "$last")
  else
    PROMPT_COMMAND=$first$'\n'${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}$last
  fi
  if ((__glass_version < 404)); then
    trapped=$(builtin trap -p DEBUG)
    if [[ -z $trapped ]]; then
      builtin trap '__glass_debug' DEBUG
    else
      builtin eval "local -a trapped=($trapped)"
      __glass_trap=${trapped[2]}
      builtin trap '__glass_debug; builtin eval "$__glass_trap"' DEBUG
    fi
  fi
  for keymap in emacs vi-insert vi-command; do
    builtin bind -m "$keymap" -x '"\e[6715~":__glass_take' 2>/dev/null
    builtin bind -m "$keymap" '"\e[6716~": redraw-current-line' 2>/dev/null
    builtin bind -m "$keymap" '"\e[6714~": "\e[6715~\e[6716~"' 2>/dev/null
  done
  __glass_mark "P;Ready=bash"
}

__glass_z= __glass_state=0 __glass_number=0 __glass_cwd= __glass_ps1= __glass_ps2= __glass_draft=
__glass_version=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))

if [[ $__glass_startup != rc ]]; then
  builtin set +o posix
  builtin shopt -u inherit_errexit 2>/dev/null
  builtin unset -v ENV
  if [[ -n ${SHELLGLASS_ENV-} ]]; then builtin export ENV="$SHELLGLASS_ENV"; fi
  builtin unset -v SHELLGLASS_ENV
  if [[ -n ${SHELLGLASS_HISTFILE-} ]]; then builtin export -n HISTFILE; fi
  builtin unset -v SHELLGLASS_HISTFILE
fi
# Start files are read at the top level: `declare` in a function is local to it.
if [[ $__glass_startup == login ]]; then
  if [ -r /etc/profile ]; then . /etc/profile; fi
  for __glass_file in ~/.bash_profile ~/.bash_login ~/.profile; do
    if [ -r "$__glass_file" ]; then
      . "$__glass_file"
      break
    fi
  done
elif [[ $__glass_startup == rc ]]; then
  if [ -r ~/.bashrc ]; then . ~/.bashrc; fi
fi
# One word at the top level: a trap of the user's fires for each.
__glass_install
