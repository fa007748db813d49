/**
 * The completion scripts. Each passes the typed words to `rookery complete`, which knows the commands, so that a script
 * stays valid when Rookery is updated. Rookery gets no stdin: what a person types meanwhile belongs to the shell.
 */

/** Works with bash 3.2, which macOS has. bash splits words at `=` and `:`; the script joins them again. */
const BASH = `# bash completion for rookery, made by: rookery completion bash
_rookery() {
  local typed=() last=-1 index word prefix
  for ((index = 1; index <= COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if ((last >= 0)) && [[ $word == [=:]* || \${typed[last]} == *[=:] ]]; then
      typed[last]+=$word
    else
      last=$((last + 1))
      typed[last]=$word
    fi
  done
  prefix=\${typed[last]%"$2"}
  COMPREPLY=()
  local IFS=$'\\n'
  while IFS=$'\\t' read -r word _; do
    case $word in
      ":files") compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$2")) ;;
      ":directories") compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$2")) ;;
      *) COMPREPLY+=("\${word#"$prefix"}") ;;
    esac
  done < <(command "$1" complete -- "\${typed[@]}" </dev/null 2>/dev/null)
}
complete -F _rookery rookery
`;

/** Can be a file in a directory of `fpath`, or be sourced. */
const ZSH = `#compdef rookery
# zsh completion for rookery, made by: rookery completion zsh
_rookery() {
  local word summary paths=""
  local -a offered
  while IFS=$'\\t' read -r word summary; do
    case $word in
      :files) paths=_files ;;
      :directories) paths=_directories ;;
      *) offered+=("\${word//:/\\\\:}\${summary:+:$summary}") ;;
    esac
  done < <(command "$words[1]" complete -- "\${(@)words[2,CURRENT]}" </dev/null 2>/dev/null)
  if [[ -n $paths ]]; then
    compset -P '--*='
    $paths
  elif ((\${#offered})); then
    _describe -V rookery offered
  fi
}
if [[ $funcstack[1] == _rookery ]]; then
  _rookery "$@"
else
  (($+functions[compdef])) || { autoload -Uz compinit && compinit }
  compdef _rookery rookery
fi
`;

const FISH = `# fish completion for rookery, made by: rookery completion fish
function __rookery_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l flag (string match -r -- '^--[^=]+=' "$current")
    set -l path (string replace -- "$flag" "" "$current")
    for line in (command $typed[1] complete -- $typed[2..-1] "$current" </dev/null 2>/dev/null)
        switch $line
            case ':files*'
                printf '%s\\n' "$flag"(__fish_complete_path "$path")
            case ':directories*'
                printf '%s\\n' "$flag"(__fish_complete_directories "$path")
            case '*'
                printf '%s\\n' $line
        end
    end
end
complete -c rookery -f -k -a '(__rookery_complete)'
`;

export const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH };
