import { backendContract } from "../contract/index.ts";
import { standIn } from "../contract/stand-in.ts";

backendContract(standIn({ name: "gemini" }), { concurrent: true });
