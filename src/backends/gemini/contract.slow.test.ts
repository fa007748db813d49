import { backendContract } from "../contract/index.ts";
import { standIn } from "../contract/stand-in.ts";

const login = { GEMINI_API_KEY: "fake" };
const OVER_ACP = "a Gemini CLI with servers is driven over ACP";
const skips = { mcp: OVER_ACP, brought: OVER_ACP, mode: "what is allowed needs no mode" };

backendContract(standIn({ name: "gemini", login }), { concurrent: true });
backendContract(standIn({ name: "gemini-headless", login, skips }), { concurrent: true });
