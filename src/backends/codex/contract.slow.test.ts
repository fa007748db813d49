import { backendContract } from "../contract/index.ts";
import { standIn } from "../contract/stand-in.ts";

backendContract(standIn({ name: "codex-exec", login: { OPENAI_API_KEY: "fake" } }), { concurrent: true });
