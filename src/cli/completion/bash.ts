/** Generates the completion script for bash. */
import type { CommandSpec } from "../command.ts";
import { type CompletionNode, type CompletionValue, listCompletionNodes } from "./nodes.ts";

export function bashScript(commands: readonly CommandSpec[]): string {
  const places = listCompletionNodes(commands);
  return `# bash completion for rookery, made by: rookery completion bash
_rookery_words() {
  local word
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    [[ $word == "$2"* ]] && COMPREPLY+=("$word")
  done < <(command "\${COMP_WORDS[0]:-rookery}" complete "$1" "$2" "$3" 2>/dev/null)
}
_rookery_paths() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$2"))
}
_rookery() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local place="" next="" typed=0 index word
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
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
  COMPREPLY=()
  case "$place:$previous" in
${places.flatMap(valueCases).join("\n")}
  esac
  if [[ $current == -* ]]; then
    case "$place" in
${places.map((place) => `      "${place.path}") ${reply(place.options.map(({ word }) => word))} ;;`).join("\n")}
    esac
    return
  fi
  case "$place:$typed" in
${places.flatMap(wordCases).join("\n")}
  esac
}
complete -F _rookery rookery
`;
}

function valueCases({ path, options }: CompletionNode): string[] {
  return options.flatMap(({ word, value }) =>
    value === undefined ? [] : [`    "${path}:${word}") ${fill(value)}; return ;;`],
  );
}

function wordCases({ path, commands, arguments: expected }: CompletionNode): string[] {
  if (commands.length > 0) return [`    "${path}:0") ${reply(commands.map(({ word }) => word))} ;;`];
  return expected.flatMap((value, index) =>
    value.choices.length === 0 && value.kind === undefined ? [] : [`    "${path}:${index}") ${fill(value)} ;;`],
  );
}

function fill({ choices, kind }: CompletionValue): string {
  if (choices.length > 0) return reply(choices);
  if (kind === undefined) return ":"; // any text
  if (kind === "files" || kind === "directories") return `_rookery_paths ${kind === "files" ? "-f" : "-d"} "$current"`;
  return `_rookery_words ${kind} "$current" "$previous"`;
}

function reply(words: readonly string[]): string {
  return `COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$current"))`;
}
