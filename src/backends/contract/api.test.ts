import { ALL_CAPABILITIES } from "../../domain/index.ts";
import { builtEnvironment, startModelServer } from "../../testing/index.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { backendContract } from "./contract.ts";
import { modelScript, type ToolCallFormat } from "./model.ts";
import { createContractFolders } from "./folders.ts";
import { OURS } from "./prompts.ts";

const voice: ToolCallFormat = {
  permissionCall: ({ file }) => ({ name: "bash", input: { command: `touch '${file}'` } }),
  writeCall: ({ text }) => ({ name: "write", input: { path: "written.txt", content: text } }),
  mcpCall: ({ server, tool, input }) => ({ name: server === OURS ? tool : `${server}__${tool}`, input }),
};

backendContract(
  {
    name: "the built-in agent on a model API",
    backend: "api",
    hasProgram: false,
    capabilities: { ...ALL_CAPABILITIES, modes: false, cost: false },
    skips: {
      question: "only MCP servers ask through it, which its own tests show",
      limit: "a provider's limit is waited for by the provider's own rules",
    },
    async open(behavior) {
      await using opening = new DisposeStack();
      const place = opening.use(await createContractFolders());
      const requireKey = behavior === "login" && { requireKey: "another" };
      const model = opening.use(await startModelServer(modelScript(voice, place.files), { ...requireKey }));
      const owned = opening.move();
      return {
        ...place,
        env: builtEnvironment({ home: place.home, extra: { ANTHROPIC_API_KEY: "fake" } }),
        toml: `backend = "api"\nmodel = "anthropic/claude-sonnet-5"\nbase_url = "${model.url}"`,
        isReal: true,
        received: () => JSON.stringify(model.requests),
        [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
      };
    },
  },
  { concurrent: true },
);
