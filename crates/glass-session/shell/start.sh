# Reads the start files of a POSIX shell, which do not see our descriptors. $2
# says which.
case $2 in
  login)
    {
      if [ -r /etc/profile ]; then . /etc/profile; fi
      if [ -r "${HOME-}/.profile" ]; then . "$HOME/.profile"; fi
    } 8<&- 9>&-
    ;;
  rc) { if [ -r "${ENV-}" ]; then . "$ENV"; fi; } 8<&- 9>&- ;;
esac
