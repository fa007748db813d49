/**
 * The built-in registry: agents that were tested in the version named here, and one that is distributed as an archive.
 */
import { parseRegistry, type RegistryIndex } from "./schema.ts";

const goose = (target: string, sha256: string) => ({
  archive: `https://github.com/block/goose/releases/download/v1.50.1/goose-${target}.tar.bz2`,
  sha256,
  cmd: "./goose",
  args: ["acp"],
});

/** In the format of the published registry, with its ids. */
const INDEX = {
  version: "1.0.0",
  agents: [
    {
      id: "claude-acp",
      name: "Claude Agent",
      version: "0.49.0", // later versions require Node 22
      distribution: { npx: { package: "@agentclientprotocol/claude-agent-acp@0.49.0" } },
    },
    {
      id: "codex-acp",
      name: "Codex",
      version: "2.6.0",
      distribution: { npx: { package: "@agentclientprotocol/codex-acp@2.6.0" } },
    },
    {
      id: "gemini",
      name: "Gemini CLI",
      version: "0.61.0",
      distribution: {
        npx: {
          package: "@google/gemini-cli@0.61.0",
          args: ["--acp"],
          env: { GEMINI_CLI_NO_RELAUNCH: "true" }, // otherwise it restarts itself and ignores SIGTERM
        },
      },
    },
    {
      id: "opencode",
      name: "opencode",
      version: "1.18.33",
      distribution: { npx: { package: "opencode-ai@1.18.33", args: ["acp"] } },
    },
    {
      id: "goose",
      name: "goose",
      version: "1.50.1",
      distribution: {
        binary: {
          "darwin-aarch64": goose(
            "aarch64-apple-darwin",
            "951055fac48e50a2087178307a75a1285f25f6a81675b84974ffc4fe6abe0d62",
          ),
          "darwin-x86_64": goose(
            "x86_64-apple-darwin",
            "db5860fde92de41e821cce4b7337ad655fd7175e7cf145f73c7156d6bef6076f",
          ),
          "linux-aarch64": goose(
            "aarch64-unknown-linux-gnu",
            "059653ecf3ad5a74d9366e690dbc614d1860be3e4c4e62c043d3cc7572551a3e",
          ),
          "linux-x86_64": goose(
            "x86_64-unknown-linux-gnu",
            "a5e25bc6d2f950837b579605162e8c84364fce38f74facb5adcb3ff963994d41",
          ),
        },
      },
    },
  ],
};

let parsed: RegistryIndex | undefined;

export function builtinRegistry(): RegistryIndex {
  parsed ??= parseRegistry(INDEX, "the built-in registry");
  return parsed;
}
