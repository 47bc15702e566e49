# Tells the terminal what an interactive zsh does. Sourced before the user's own
# files, and set up at the first prompt, after all of them. Aliases may be active
# here, and any option may be set.

'builtin' 'typeset' -g _glass_cwd='' _glass_draft=''
'builtin' 'typeset' -gi _glass_state=0 _glass_fd=1 _glass_sp=0 _glass_ignores=0

_glass_mark() {
  # A trace (xtrace) would show the nonce.
  'builtin' 'setopt' localoptions noxtrace
  'builtin' 'print' -rnu $_glass_fd -- $'\e]633;'"$1;$_glass_nonce"$'\a'
}

# A marker with a value, unless nobody would read one so long.
_glass_tell() {
  'builtin' 'emulate' -L zsh -o no_multibyte -o no_aliases -o no_warn_create_global
  'builtin' 'local' REPLY
  if (( $#2 > 32768 )); then 'builtin' 'return' 0; fi
  _glass_escape "$2"
  if (( $#REPLY <= 32768 )); then _glass_mark "$1$REPLY"; fi
}

# A value as the markers carry it, into REPLY; no process is made.
_glass_escape() {
  'builtin' 'emulate' -L zsh -o no_multibyte -o extended_glob
  REPLY=${1//\\/\\\\}
  REPLY=${REPLY//(#m)[$'\x00'-$'\x1f\x7f;']/\\x${(l:2::0:)$(([##16]#MATCH))}}
}

_glass_precmd() {
  'builtin' 'local' -i s=$?
  'builtin' 'emulate' -L zsh -o no_aliases -o no_warn_create_global
  if 'builtin' 'zle'; then 'builtin' 'return' s; fi
  if [[ $PWD != $_glass_cwd ]]; then
    _glass_cwd=$PWD
    _glass_tell 'P;Cwd=' "$PWD"
  fi
  if (( _glass_state == 2 )); then _glass_mark "D;$s"; fi
  _glass_state=1
  'builtin' 'return' s
}

# Last of the hooks: what others print before the prompt is no part of it.
_glass_prompt() {
  'builtin' 'local' -i s=$?
  'builtin' 'emulate' -L zsh -o no_aliases -o no_warn_create_global
  if 'builtin' 'zle'; then 'builtin' 'return' s; fi
  if [[ $precmd_functions[-1] != _glass_prompt ]]; then
    precmd_functions=(${precmd_functions:#_glass_prompt} _glass_prompt)
  fi
  _glass_mark A
  'builtin' 'return' s
}

# What zsh prints after output without a line end comes before its hooks, and
# would be the command's: so we print it, after the end. No emulation here, which
# would undo the option again.
_glass_end_line() {
  'builtin' 'local' -i s=$?
  if (( _glass_sp )); then
    _glass_sp=0
    'builtin' 'setopt' prompt_sp
    if [[ -o prompt_cr ]]; then
      'builtin' 'print' -rnu $_glass_fd -- "${(%)PROMPT_EOL_MARK-%B%S%#%s%b}${(l:COLUMNS-1:: :):-}"$'\r \r'
    fi
  fi
  'builtin' 'return' s
}

_glass_preexec() {
  'builtin' 'emulate' -L zsh -o no_aliases -o no_warn_create_global
  _glass_state=2
  # What the history is not to have may be a secret.
  if (( ! _glass_ignores )) || [[ $1 != ' '* ]]; then
    _glass_tell 'E;' "$1"
  fi
  _glass_mark C
}

# Options as they are, before an emulation hides them.
_glass_look() {
  if [[ -o hist_ignore_space ]]; then _glass_ignores=1; else _glass_ignores=0; fi
  if [[ -o prompt_sp ]]; then
    _glass_sp=1
    'builtin' 'setopt' no_prompt_sp
  fi
}

# A command was handed over, perhaps. Whoever makes the file `taken` has it, and
# nobody else does.
_glass_take() {
  'builtin' 'setopt' localoptions noxtrace
  'builtin' 'local' _glass_nonce_read='' _glass_id='' _glass_line=''
  if [[ $CONTEXT != start || ! -r $_glass_dir/next ]]; then
    'builtin' 'return' 0
  fi
  {
    IFS= 'builtin' 'read' -r _glass_nonce_read
    IFS= 'builtin' 'read' -r _glass_id
    IFS= 'builtin' 'read' -r _glass_line
  } <$_glass_dir/next 2>/dev/null
  if [[ $_glass_nonce_read != $_glass_nonce || -z $_glass_id || $_glass_id == *[^0-9]* ]]; then
    'builtin' 'return' 0
  fi
  if ! _glass_claim $_glass_id; then 'builtin' 'return' 0; fi
  _glass_mark "P;Taken=$_glass_id"
  if [[ -n $BUFFER ]]; then 'builtin' 'zle' .push-line; fi
  BUFFER=$_glass_line
  CURSOR=$#BUFFER
  'builtin' 'zle' .accept-line
}

_glass_claim() {
  'builtin' 'emulate' -L zsh -o no_clobber -o no_aliases
  { 'builtin' ':' >$_glass_dir/taken.$1 } 2>/dev/null
}

_glass_install() {
  'builtin' 'local' -i s=$?
  'builtin' 'local' keymap
  { 'builtin' 'zmodload' zsh/system && 'sysopen' -o cloexec -wu _glass_fd -- ${TTY:-/dev/tty} } 2>/dev/null || _glass_fd=1
  precmd_functions=(_glass_precmd _glass_end_line ${precmd_functions:#_glass_install} _glass_prompt)
  preexec_functions=(${preexec_functions-} _glass_look _glass_preexec)
  'builtin' 'zle' -N _glass_take
  for keymap in emacs viins vicmd; do
    'builtin' 'bindkey' -M $keymap '\e[6714~' _glass_take 2>/dev/null
  done
  _glass_mark "P;Ready=zsh"
  'builtin' 'unfunction' _glass_install
  _glass_precmd
  _glass_prompt
  'builtin' 'return' s
}

'builtin' 'typeset' -ag precmd_functions preexec_functions
precmd_functions+=(_glass_install)
