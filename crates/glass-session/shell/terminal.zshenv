if [[ $_glass_startup == none ]]; then
  'builtin' 'setopt' no_rcs no_global_rcs
elif [[ -r "${ZDOTDIR-$HOME}/.zshenv" ]]; then
  'builtin' 'source' '--' "${ZDOTDIR-$HOME}/.zshenv"
fi
'builtin' 'unset' _glass_startup
