/** Generates the completion script for zsh. Based on the manual; not tested with zsh. */
import type { CommandSpec } from "../command.ts";
import { type CompletionNode, type CompletionValue, listCompletionNodes, type CompletionWord } from "./nodes.ts";

export function zshScript(commands: readonly CommandSpec[]): string {
  const places = listCompletionNodes(commands);
  return `#compdef rookery
# zsh completion for rookery, made by: rookery completion zsh
_rookery_words() {
  local -a offered
  local word summary
  while IFS=$'\\t' read -r word summary; do
    offered+=("\${word//:/\\\\:}:\$summary")
  done < <(command "\${words[1]:-rookery}" complete "$1" "\${words[CURRENT]}" "\${words[CURRENT-1]}" 2>/dev/null)
  _describe "$1" offered
}
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
    *) return ;;
  esac
  _describe word found
}
if [[ $funcstack[1] == _rookery ]]; then _rookery "$@"; else compdef _rookery rookery; fi
`;
}

function valueCases({ path, options }: CompletionNode): string[] {
  return options.flatMap(({ word, value }) =>
    value === undefined ? [] : [`    "${path}:${word}") ${fill(value)}; return ;;`],
  );
}

function wordCases({ path, commands, arguments: expected }: CompletionNode): string[] {
  if (commands.length > 0) return [`    "${path}:0") found=(${commands.map(formatEntry).join(" ")}) ;;`];
  return expected.flatMap((value, index) =>
    value.choices.length === 0 && value.kind === undefined ? [] : [`    "${path}:${index}") ${fill(value)}; return ;;`],
  );
}

function fill({ choices, kind }: CompletionValue): string {
  if (choices.length > 0) return `compadd -- ${choices.join(" ")}`;
  if (kind === undefined) return ":"; // any text
  if (kind === "files" || kind === "directories") return kind === "files" ? "_files" : "_files -/";
  return `_rookery_words ${kind}`;
}

function formatEntry({ word, summary }: CompletionWord): string {
  return `'${word}:${summary.replaceAll("'", "’").replaceAll(":", "\\:")}'`;
}
