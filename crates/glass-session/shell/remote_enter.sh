# Gives the command's shell its variables and goes to its directory, or to what is
# left of the way there; fails where it runs nowhere else.
sg_enter() {
  sg_variables
  SHELLGLASS_REMOTE_ID=$sg_id
  export SHELLGLASS_REMOTE_ID
  case $sg_cwd in
    '~') cd ;;
    '~/'*) cd -- "$HOME/${sg_cwd#??}" ;;
    ?*) cd -- "$sg_cwd" ;;
  esac 2>/dev/null && return
  case $sg_strict in ?*) return 1 ;; esac
  while ! cd -- "${sg_cwd:=/}" 2>/dev/null; do sg_cwd=${sg_cwd%/*}; done
}

