# Reads zsh's start files, which do not see our descriptors. $2 says which. zsh
# has been started without them, and has read the global zshenv all the same.
builtin setopt rcs
__sg_files=()
case $2 in
  (login) __sg_files=(~/.zshenv /etc/zprofile ~/.zprofile /etc/zlogin ~/.zlogin) ;;
  (rc) __sg_files=(~/.zshenv /etc/zshrc ~/.zshrc) ;;
esac
for __sg_file in "${__sg_files[@]}"; do
  case $__sg_file in
    (/etc/*) [[ -r /etc/zsh/${__sg_file:t} ]] && __sg_file=/etc/zsh/${__sg_file:t} ;;
    (*) __sg_file=${ZDOTDIR:-$HOME}/${__sg_file:t} ;;
  esac
  if [[ -r $__sg_file ]]; then
    { builtin . "$__sg_file" } 8<&- 9>&-
  fi
done
builtin unset __sg_file __sg_files
