import { expect, it } from "vitest";
import { z } from "zod";
import { parseInput } from "./validate.ts";

const schema = z.strictObject({ agent: z.union([z.string(), z.strictObject({ name: z.string(), size: z.int() })]) });

it.each([
  [{ agent: { name: "a", size: "b" } }, "agent.size"],
  [{ agent: { name: "a", size: 1, color: "red" } }, "agent.color: unknown field"],
  [{ agent: {} }, "agent.name"],
])("describes the problem of the alternative that %j is meant for", (value, message) => {
  expect(() => parseInput(schema, value, "the options")).toThrow(`the options is invalid: ${message}`);
});
