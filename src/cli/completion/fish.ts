/** Generates the completion script for fish. Based on the manual; not tested with fish. */
import type { CommandSpec } from "../command.ts";
import { type CompletionNode, listCompletionNodes, type CompletionWord } from "./nodes.ts";

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
complete -c rookery -f
${places.flatMap(completeLines).join("\n")}
`;
}

function completeLines({ path, commands, options, arguments: expected }: CompletionNode): string[] {
  const at = `complete -c rookery -n '__rookery_place "${path}"'`;
  const choices = expected.flat().map((word) => ({ word, summary: "" }));
  const words = [...commands, ...choices].map((word) => `${at} -a ${word.word}${formatDescription(word)}`);
  const flags = options.map(({ word, summary, values }) => {
    const takes = values === undefined ? "" : values.length > 0 ? ` -x -a '${values.join(" ")}'` : " -r";
    return `${at} -l ${word.replace(/^--/, "")}${takes}${formatDescription({ word, summary })}`;
  });
  return [...words, ...flags];
}

function formatDescription({ summary }: CompletionWord): string {
  return summary === "" ? "" : ` -d '${summary.replaceAll("'", "’")}'`;
}
