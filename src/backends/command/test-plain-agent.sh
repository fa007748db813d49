#!/bin/sh
# A program that prints plain text. Takes the prompt as its first argument, or from stdin.
prompt=${1-$(cat)}
case $prompt in
  *wait*) echo Waiting.; trap 'exit 143' TERM; while :; do sleep 0.05; done ;;
  *fail*) echo 'half done'; echo 'the disk is full' >&2; exit 7 ;;
  *) if [ -t 1 ]; then printf '\033[1mHello\033[0m from a terminal\n'; else echo Hello.; fi
     printf '\n  indented {"a": 1}\n'
     echo "asked: $prompt" ;;
esac
