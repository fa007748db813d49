import { backendContract } from "../contract/index.ts";
import { standIn } from "../contract/stand-in.ts";

const login = { OPENAI_API_KEY: "fake" };

backendContract(standIn({ name: "codex", login }), { concurrent: true });
backendContract(standIn({ name: "codex-exec", login }), { concurrent: true });
