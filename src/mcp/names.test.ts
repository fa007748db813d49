import { expect, it } from "vitest";
import { splitToolName, toolName } from "./index.ts";

it.each([
  ["github", "create_issue", "github__create_issue"],
  ["git-hub", "create-issue", "git-hub__create-issue"],
  ["a", "b__c", "a__b__c"],
  ["a", "_b", "a___b"],
  ["a__b", "c", /^a__b__c_[0-9a-f]{12}$/],
  ["a_", "b", /^a___b_[0-9a-f]{12}$/],
  ["my server", "do.it", /^my_server__do_it_[0-9a-f]{12}$/],
  ["1st", "run", /^_st__run_[0-9a-f]{12}$/],
  ["", "", /^____[0-9a-f]{12}$|^_____[0-9a-f]{12}$/],
  ["名前", "道具", /^____+_[0-9a-f]{12}$/],
  ["a", "b_0123456789ab", /^a__b_0123456789ab_[0-9a-f]{12}$/],
  ["s".repeat(70), "t".repeat(70), /^s{20}__t+_[0-9a-f]{12}$/],
])("names the tool of server %j and tool %j as %s", (server, tool, expected) => {
  const name = toolName(server, tool);
  if (typeof expected === "string") expect(name).toBe(expected);
  else expect(name).toMatch(expected);
});

it("gives every tool a unique name that every provider accepts", () => {
  const random = seeded(7);
  const alphabet = ["a", "b", "_", "__", "-", ".", " ", "é", "1", "0123456789ab", "x".repeat(40)];
  const word = (): string =>
    Array.from({ length: Math.floor(random() * 5) }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
  const owners = new Map<string, string>();
  for (let round = 0; round < 50_000; round += 1) {
    const [server, tool] = [word(), word()];
    const name = toolName(server, tool);
    const owner = JSON.stringify([server, tool]);
    if (!/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name)) throw new Error(`${name} is not a valid name`);
    if ((owners.get(name) ?? owner) !== owner) throw new Error(`${name} belongs to ${owner} and ${owners.get(name)}`);
    owners.set(name, owner);
    const split = splitToolName(name);
    if (split !== undefined && JSON.stringify([split.server, split.tool]) !== owner)
      throw new Error(`${name} does not split into its parts`);
  }
  expect(owners.size).toBeGreaterThan(1_000);
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
