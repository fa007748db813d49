import { backendContract } from "../contract/index.ts";
import { standIn } from "../contract/stand-in.ts";

const skips = { login: "its keys are in its own settings, and providers without one are served too" };

backendContract(standIn({ name: "opencode", skips }), { concurrent: true });
