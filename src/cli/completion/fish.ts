/** Generates the completion script for fish. Based on the manual; not tested with fish. */
import type { CommandSpec } from "../command.ts";
import { type CompletionNode, type CompletionValue, listCompletionNodes, type CompletionWord } from "./nodes.ts";

export function fishScript(commands: readonly CommandSpec[]): string {
  const places = listCompletionNodes(commands);
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  return `# fish completion for rookery, made by: rookery completion fish
function __rookery_place
    set -l place
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; and continue
        set -l next (string join ' ' $place $word)
        contains -- $next ${paths.join(" ")}; and set place $place $word
    end
    test (string join ' ' $place) = "$argv[1]"
end
function __rookery_words
    set -l typed (commandline -opc)
    command $typed[1] complete $argv[1] (commandline -ct) $typed[-1] 2>/dev/null
end
complete -c rookery -f
${places.flatMap(completeLines).join("\n")}
`;
}

function completeLines({ path, commands, options, arguments: expected }: CompletionNode): string[] {
  const at = `complete -c rookery -n '__rookery_place "${path}"'`;
  const choices = expected.flatMap((value) => value.choices).map((word) => ({ word, summary: "" }));
  const values = expected.flatMap((value) => offer(value) ?? []).map((offered) => `${at} ${offered}`);
  const words = [...commands, ...choices].map((word) => `${at} -a ${word.word}${formatDescription(word)}`);
  const flags = options.map(({ word, summary, value }) => {
    const takes = value === undefined ? "" : ` ${offerValue(value)}`;
    return `${at} -l ${word.replace(/^--/, "")}${takes}${formatDescription({ word, summary })}`;
  });
  return [...words, ...values, ...flags];
}

function offerValue(value: CompletionValue): string {
  if (value.choices.length > 0) return `-x -a '${value.choices.join(" ")}'`;
  const offered = offer(value);
  return offered === undefined ? "-x" : offered === "-F" ? "-r -F" : `-x ${offered}`;
}

/** Undefined if any text is valid. */
function offer({ choices, kind }: CompletionValue): string | undefined {
  if (kind === undefined || choices.length > 0) return undefined;
  if (kind === "files") return "-F";
  return kind === "directories" ? "-a '(__fish_complete_directories)'" : `-a '(__rookery_words ${kind})'`;
}

function formatDescription({ summary }: CompletionWord): string {
  return summary === "" ? "" : ` -d '${summary.replaceAll("'", "’")}'`;
}
