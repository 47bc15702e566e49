# Reads bash's start files, which do not see our descriptors. $2 says which.
case $2 in
  login)
    {
      [[ -r /etc/profile ]] && . /etc/profile
      if [[ -r ~/.bash_profile ]]; then . ~/.bash_profile
      elif [[ -r ~/.bash_login ]]; then . ~/.bash_login
      elif [[ -r ~/.profile ]]; then . ~/.profile
      fi
    } 8<&- 9>&-
    ;;
  rc) { [[ -r ~/.bashrc ]] && . ~/.bashrc; } 8<&- 9>&- ;;
esac
