import { expect, it } from "vitest";
import { calls, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

it("prints who wrote each match below the id and the title of its session", async () => {
  await using fixture = await openCommandFixture(() => say("The kea opens bins."));
  await fixture.rookery(["run", "Tell me about birds"]);
  const found = await fixture.rookery(["search", "bins KEA"]);
  expect(found.stdout).toMatch(
    /^\w{8} {2}Tell me about birds\n {2}\d+ {2}agent {2}just now {2}The kea opens bins\.\n$/,
  );
  const [line = ""] = (await fixture.rookery(["search", "birds", "--json", "--limit", "1"])).stdout.split("\n");
  expect(JSON.parse(line)).toMatchObject({ type: "turn.started", excerpt: "Tell me about birds" });
  expect((await fixture.rookery(["search", "absent"])).stdout).toBe(
    "no session has an event with all of these words\n",
  );
});

it("names prompts, answers, calls and results in aligned columns, one line each", async () => {
  const command = "echo the bins of the kea";
  await using fixture = await openCommandFixture([
    calls([{ name: "bash", input: { command } }]),
    say(`${"It is a bird of the mountains. ".repeat(3)}The kea opens bins.`),
  ]);
  await fixture.rookery(["run", "Which bird opens bins? The kea", "--permissions", "all"]);
  await fixture.rookery(["run", "Again: the kea and its bins"]);
  const screen = fixture.screen(["search", "kea BINS"], { columns: 70 });
  expect(await screen.exited).toBe(0);
  const lines = screen.visible().split("\n");
  const id = String.raw`[0-9a-z]{8}  `;
  const match = (seq: string, source: string, text: string): RegExp =>
    new RegExp(`^  +${seq}  ${source.padEnd(9)}  just now  ${text}$`);
  const expected = [
    new RegExp(`^${id}Again: the kea and its bins$`),
    match(String.raw`\d+`, "you", "Again: the kea and its bins"),
    /^$/,
    new RegExp(`^${id}Which bird opens bins\\? The kea$`),
    match(String.raw`\d+`, "agent", String.raw`…\S.* The kea opens bins\.`),
    match(String.raw`\d+`, "result", String.raw`the bins of the kea \[exit code 0\]`),
    match(String.raw`\d+`, "tool bash", "echo the bins of the kea"),
    match(String.raw`\d+`, "you", String.raw`Which bird opens bins\? The kea`),
  ];
  expect(lines).toHaveLength(expected.length);
  lines.forEach((line, index) => expect(line).toMatch(expected[index] ?? /^$/));
  expect(screen.style("kea opens")).toMatchObject({ bold: true, color: 3 });
  expect(screen.style("opens bins.")).toMatchObject({ bold: false, color: undefined });
});
