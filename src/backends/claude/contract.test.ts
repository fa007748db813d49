import { backendContract } from "../contract/index.ts";
import { standIn } from "../contract/stand-in.ts";

const env = { ANTHROPIC_API_KEY: "fake" };
/** Terminals pass on a tenth of what pipes do. */
const onTerminal = { ...env, ROOKERY_NOISE_LINE: String(33 * 1024 * 1024) };

backendContract(standIn({ name: "claude", env }), { concurrent: true });
backendContract(standIn({ name: "claude-pty", recorded: "claude", toml: "pty = true", env: onTerminal }), {
  concurrent: true,
});
