import type { AgentApp } from "@agentclientprotocol/sdk";

export declare function sdkAgent(options?: { readonly locked?: boolean }): AgentApp;
