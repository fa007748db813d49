/** Generates the completion script for zsh. Based on the manual; not tested with zsh. */
import type { CommandSpec } from "../command.ts";
import { type CompletionNode, listCompletionNodes, type CompletionWord } from "./nodes.ts";

export function zshScript(commands: readonly CommandSpec[]): string {
  const places = listCompletionNodes(commands);
  return `#compdef rookery
# zsh completion for rookery, made by: rookery completion zsh
_rookery() {
  local place="" next="" typed=0 index word
  local -a found
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    [[ $word == -* ]] && continue
    next="\${place:+$place }$word"
    case "$next" in
      ${places
        .filter(({ path }) => path !== "")
        .map(({ path }) => `"${path}"`)
        .join("|")}) place=$next typed=0 ;;
      *) typed=$((typed + 1)) ;;
    esac
  done
  case "$place:\${words[CURRENT-1]}" in
${places.flatMap(valueCases).join("\n")}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    case "$place" in
${places.map((place) => `      "${place.path}") found=(${place.options.map(formatEntry).join(" ")}) ;;`).join("\n")}
    esac
    _describe option found
    return
  fi
  case "$place:$typed" in
${places.flatMap(wordCases).join("\n")}
    *) _files; return ;;
  esac
  _describe word found
}
if [[ $funcstack[1] == _rookery ]]; then _rookery "$@"; else compdef _rookery rookery; fi
`;
}

function valueCases({ path, options }: CompletionNode): string[] {
  return options
    .filter(({ values }) => values !== undefined && values.length > 0)
    .map(({ word, values }) => `    "${path}:${word}") compadd -- ${(values ?? []).join(" ")}; return ;;`);
}

function wordCases({ path, commands, arguments: expected }: CompletionNode): string[] {
  if (commands.length > 0) return [`    "${path}:0") found=(${commands.map(formatEntry).join(" ")}) ;;`];
  return expected.flatMap((choices, index) =>
    choices.length === 0 ? [] : [`    "${path}:${index}") found=(${choices.join(" ")}) ;;`],
  );
}

function formatEntry({ word, summary }: CompletionWord): string {
  return `'${word}:${summary.replaceAll("'", "’").replaceAll(":", "\\:")}'`;
}
