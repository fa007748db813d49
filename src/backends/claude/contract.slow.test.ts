import { backendContract } from "../contract/index.ts";
import { standIn } from "../contract/stand-in.ts";

const login = { ANTHROPIC_API_KEY: "fake" };
/** Just above the line limit, because terminals forward a tenth as fast as pipes. */
const env = { ROOKERY_NOISE_LINE: String(33 * 1024 * 1024) };

backendContract(standIn({ name: "claude-pty", recorded: "claude", toml: "pty = true", login, env }), {
  concurrent: true,
});
