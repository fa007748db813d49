/** What each kind of API is told about how much its model is to think; a model that cannot is refused in words. */
import type { JSONObject } from "@ai-sdk/provider";
import { RookeryError } from "../domain/index.ts";
import type { Effort, ProviderKind } from "../domain/provider.ts";

/** Options of the SDK's provider. Throws `model_invalid` where the model cannot do as asked. */
export function effortOptions(kind: ProviderKind, model: string, effort: Effort | undefined): JSONObject {
  if (effort === undefined) return {};
  const options = BY_KIND[kind](model.toLowerCase(), effort);
  if (options !== undefined) return options;
  const fix = "choose another effort or another model, or leave effort out";
  const cannot = effort === "off" ? "always thinks" : `cannot think with effort = "${effort}"`;
  throw new RookeryError("model_invalid", `${model} ${cannot}: ${fix}`);
}

const BY_KIND: Record<ProviderKind, (model: string, effort: Effort) => JSONObject | undefined> = {
  anthropic: anthropicEffort,
  openai: openaiEffort,
  google: googleEffort,
  "openai-compatible": (_, effort) => ({ reasoningEffort: COMPATIBLE[effort] }),
};

/** Servers agree on these words only. */
const COMPATIBLE: Record<Effort, string> = { off: "none", low: "low", medium: "medium", high: "high", max: "high" };

/** From version 4.6 on the model chooses how long to think and takes an effort; before, it takes a number of tokens. */
function anthropicEffort(model: string, effort: Effort): JSONObject | undefined {
  if (/claude-(instant|2|3-(haiku|opus|sonnet|5))/.test(model)) return effort === "off" ? {} : undefined;
  if (/claude-(3-7|(opus|sonnet)-4(-[015])?(-\d{8})?$|(opus|sonnet)-4-(0|1|5)|haiku-4)/.test(model)) {
    if (effort === "off") return { thinking: { type: "disabled" } };
    return { thinking: { type: "enabled", budgetTokens: CLAUDE_TOKENS[effort] } };
  }
  if (effort !== "off") return { thinking: { type: "adaptive", display: "summarized" }, effort };
  return /claude-((opus|sonnet)-5-5|fable|mythos)/.test(model) ? undefined : { thinking: { type: "disabled" } };
}

const CLAUDE_TOKENS: Record<Exclude<Effort, "off">, number> = { low: 4096, medium: 10_240, high: 24_576, max: 31_999 };

/** What is no name of OpenAI's is taken to think: a gateway may call its models as it likes. */
function openaiEffort(model: string, effort: Effort): JSONObject | undefined {
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(model);
  const [major, minor] = [Number(version?.[1] ?? NaN), Number(version?.[2] ?? 0)];
  if (major < 5 || /^(gpt-\d[\d.]*-chat|chatgpt)/.test(model)) return effort === "off" ? {} : undefined;
  const own = version !== null || /^o\d/.test(model);
  const reasoningEffort = openaiWord(effort, { model, own, number: major * 100 + minor });
  if (reasoningEffort === undefined) return undefined;
  const summary = effort === "off" ? {} : { reasoningSummary: "auto" };
  return { reasoningEffort, ...summary, ...(own ? {} : { forceReasoning: true }) };
}

/** As of November 2026; `number` is 501 for GPT-5.1. */
function openaiWord(
  effort: Effort,
  { model, own, number }: { readonly model: string; readonly own: boolean; readonly number: number },
): string | undefined {
  if (effort === "max") {
    if (number >= 600) return "max";
    return number >= 502 || model.includes("codex-max") ? "xhigh" : "high";
  }
  if (effort !== "off") return effort;
  if (!own) return "none";
  if (number === 500) return /codex|pro/.test(model) ? undefined : "minimal";
  if (number > 500 && number < 600) return /codex|pro/.test(model) ? undefined : "none";
  return /^gpt-(6-sol|6-luna|6\.1-terra)/.test(model) ? "none" : undefined;
}

/** Version 2.5 takes a number of tokens, later ones a level; of those, the small ones before 3.8 can all but leave it. */
function googleEffort(model: string, effort: Effort): JSONObject | undefined {
  if (/gemini-(1|2\.0)|gemma/.test(model)) return effort === "off" ? {} : undefined;
  if (model.includes("gemini-2.5")) {
    const pro = model.includes("pro");
    if (effort === "off") return pro ? undefined : { thinkingConfig: { thinkingBudget: 0 } };
    const most = pro ? 32_768 : 24_576;
    return { thinkingConfig: { thinkingBudget: Math.min(most, GEMINI_TOKENS[effort]), includeThoughts: true } };
  }
  if (effort === "off") {
    return /gemini-3(\.[1-7])?-flash/.test(model) ? { thinkingConfig: { thinkingLevel: "minimal" } } : undefined;
  }
  return { thinkingConfig: { thinkingLevel: effort === "max" ? "high" : effort, includeThoughts: true } };
}

const GEMINI_TOKENS: Record<Exclude<Effort, "off">, number> = { low: 1024, medium: 8192, high: 24_576, max: 32_768 };
