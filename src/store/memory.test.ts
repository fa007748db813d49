import { describe, it } from "vitest";
import { storeContract } from "./contract.ts";
import { openMemoryStore } from "./memory.ts";

describe("the memory store", () => {
  it.each(storeContract)("$name", async ({ run }) => run(async () => openMemoryStore()));
});
