import { backendContract } from "../contract/index.ts";
import { standIn } from "../contract/stand-in.ts";

backendContract(standIn({ name: "claude", login: { ANTHROPIC_API_KEY: "fake" } }), { concurrent: true });
