/** Generates the completion script for bash. */
import type { CommandSpec } from "../command.ts";
import { type CompletionNode, listCompletionNodes } from "./nodes.ts";

export function bashScript(commands: readonly CommandSpec[]): string {
  const places = listCompletionNodes(commands);
  return `# bash completion for rookery, made by: rookery completion bash
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
complete -o default -F _rookery rookery
`;
}

function valueCases({ path, options }: CompletionNode): string[] {
  return options
    .filter(({ values }) => values !== undefined && values.length > 0)
    .map(({ word, values }) => `    "${path}:${word}") ${reply(values ?? [])}; return ;;`);
}

function wordCases({ path, commands, arguments: expected }: CompletionNode): string[] {
  if (commands.length > 0) return [`    "${path}:0") ${reply(commands.map(({ word }) => word))} ;;`];
  return expected.flatMap((choices, index) =>
    choices.length === 0 ? [] : [`    "${path}:${index}") ${reply(choices)} ;;`],
  );
}

function reply(words: readonly string[]): string {
  return `COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$current"))`;
}
