/** What the server's document says, as types. Written by `npm run client`: change the routes, not this. */

export interface paths {
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Is the server there? With the token, also what it does. */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What can be driven here, and what is known of its programs. */
        get: operations["agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is counted, in the text format of Prometheus. */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document. */
        get: operations["openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sessions, the newest first. */
        get: operations["listSessions"];
        put?: never;
        /** Open a new session. */
        post: operations["openSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One session. */
        get: operations["showSession"];
        put?: never;
        post?: never;
        /** Forget a session for good. */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        /** Go on with another agent, model or folder, at the end of a turn that runs, or with other permissions at once. */
        patch: operations["changeSession"];
        trace?: never;
    };
    "/v1/sessions/{id}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Prompt the agent: begins a turn, and answers when its beginning is durable. */
        post: operations["promptSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel the running turn; answers when its end is durable. */
        post: operations["cancelTurn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the conversation; one that another process drives is stopped there. */
        post: operations["closeSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/conversation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Go on from other messages: cancels what runs, and drops what waits. The log keeps what was. */
        put: operations["replaceConversation"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A new session that begins with all ended turns of this one, which stays as it is. */
        post: operations["forkSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All that waits for a person, over all sessions. */
        get: operations["listRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What waits for a person in a session. */
        get: operations["listSessionRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/requests/{requestId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a permission or a question, whichever process asked it. */
        post: operations["answerRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The log of a session: a page, or all that comes as a stream. The cursor is `seq`. */
        get: operations["sessionEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything of a task and its sessions: a page, or all that comes as a stream. The cursor is a position. */
        get: operations["taskEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything, in the order in which it was committed: a page, or all that comes as a stream. */
        get: operations["events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tasks, the newest first. */
        get: operations["listTasks"];
        put?: never;
        /** Give a task: it waits for its turn, and runs in a worktree of its own. */
        post: operations["startTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/collect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove worktrees that are clean, merged and unused, or say which would go. */
        post: operations["collectTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One task. */
        get: operations["showTask"];
        put?: never;
        post?: never;
        /** Remove a task and its worktree. */
        delete: operations["removeTask"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a task; answers when nothing of it runs any more. Its worktree stays. */
        post: operations["stopTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go on with a task that has ended, in the same worktree and session. */
        post: operations["resumeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All that differs from the base, committed or not. */
        get: operations["diffTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{id}/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Merge a task's branch, or only say what would happen. */
        post: operations["mergeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Problem: {
            type: string;
            title: string;
            status: number;
            /** @description What happened, to what, and what to do next. */
            detail: string;
            /** @enum {string} */
            code: "session_not_found" | "session_closed" | "session_in_use" | "turn_in_progress" | "request_not_found" | "request_resolved" | "append_conflict" | "lease_lost" | "store_locked" | "store_readonly" | "store_full" | "store_corrupt" | "store_newer" | "store_replaced" | "store_unavailable" | "store_closed" | "log_corrupt" | "config_invalid" | "not_trusted" | "agent_unknown" | "agent_unavailable" | "agent_exited" | "agent_failed" | "backend_unsupported" | "model_invalid" | "provider_unconfigured" | "provider_auth" | "provider_unreachable" | "provider_refused" | "provider_rate_limited" | "usage_limited" | "provider_overloaded" | "provider_failed" | "provider_unknown" | "provider_mismatch" | "context_overflow" | "model_not_found" | "code_unavailable" | "subagent_limit" | "tool_conflict" | "tools_stale" | "plugin_failed" | "mcp_unknown" | "mcp_unavailable" | "mcp_failed" | "mcp_login" | "cwd_missing" | "task_not_found" | "task_exists" | "task_state" | "git_missing" | "git_failed" | "repository_missing" | "repository_empty" | "repository_bare" | "repository_locked" | "identity_missing" | "base_not_found" | "branch_exists" | "worktree_missing" | "worktree_unmerged" | "checkout_dirty" | "setup_failed" | "stage_failed" | "merge_conflict" | "gate_failed" | "budget_reached" | "port_unavailable" | "disk_full" | "server_unreachable" | "server_running" | "unauthorized" | "input_invalid" | "input_too_large" | "attachment_missing" | "usage" | "platform_unsupported" | "interrupted" | "internal";
            /** @description Where in the input. */
            at?: string;
            /** @description The last position there is, where a later one was asked for. */
            head?: number;
            requestId?: string;
        };
        Usage: {
            inputTokens: number;
            outputTokens: number;
            cacheReadTokens: number;
            cacheWriteTokens: number;
            reasoningTokens: number;
            /** @description Left out as soon as one report had no price. */
            costUsd?: number;
            /** @enum {string} */
            costBy?: "reported" | "computed" | "mixed";
        };
        Pending: {
            /**
             * @description It goes on: ask again with the same Idempotency-Key.
             * @constant
             */
            pending: true;
        };
        Health: {
            /** @constant */
            ok: true;
            version: string;
            pid?: number;
            startedAt?: string;
            drivenSessions?: number;
            streams?: number;
            /** @description How many there are in each phase. */
            tasks?: {
                [key: string]: number;
            };
        };
        Agent: {
            name: string;
            backend: string;
            model?: string;
            isDefault: boolean;
            builtIn: boolean;
            program?: {
                program: string;
                path?: string;
                /** @enum {string} */
                from?: "configured" | "path" | "node_modules";
                version?: string;
                tested?: string;
                /** @enum {string} */
                is: "tested" | "newer" | "older" | "unknown";
                login?: unknown;
                known: string[];
                install?: string;
            };
        };
        AgentList: {
            agents: components["schemas"]["Agent"][];
        };
        SessionEvent: {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "session.opened";
            cwd: string;
            backend: string;
            model?: string;
            modelChosen?: boolean;
            /** @enum {string} */
            permissions: "ask" | "read" | "all" | "none";
            title?: string;
            parent?: string;
            depth?: number;
            task?: string;
            forkOf?: string;
            reopened?: boolean;
            copying?: boolean;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "session.closed";
            reason?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "agent.switched";
            from: string;
            to: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "agent.connected";
            nativeId?: string;
            /** @enum {string} */
            how: "new" | "resumed" | "loaded" | "forked" | "handed_over";
            version?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "turn.started";
            input: ({
                /** @constant */
                type: "text";
                text: string;
            } | {
                /** @constant */
                type: "blob";
                hash: string;
                mediaType: string;
                name?: string;
            })[];
            inputId?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "turn.ended";
            outcome: {
                /** @constant */
                status: "done";
                stopReason?: string;
            } | {
                /** @constant */
                status: "cancelled";
            } | {
                /** @constant */
                status: "failed";
                code: string;
                message: string;
            } | {
                /** @constant */
                status: "stalled";
                clock: string;
                message: string;
            };
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "limit.reached";
            message: string;
            /** Format: date-time */
            resetsAt?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "turn.parked";
            /** Format: date-time */
            until: string;
            message: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "turn.continued";
            message?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "input.queued";
            inputId: string;
            input: ({
                /** @constant */
                type: "text";
                text: string;
            } | {
                /** @constant */
                type: "blob";
                hash: string;
                mediaType: string;
                name?: string;
            })[];
            /** @enum {string} */
            deliver?: "steer" | "follow_up";
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "input.delivered";
            inputId: string;
            input: ({
                /** @constant */
                type: "text";
                text: string;
            } | {
                /** @constant */
                type: "blob";
                hash: string;
                mediaType: string;
                name?: string;
            })[];
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "conversation.replaced";
            messages: {
                /** @enum {string} */
                role: "user" | "assistant";
                text: string;
            }[];
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "message.delta";
            messageId: string;
            text: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "message.completed";
            messageId: string;
            text: string;
            toolCalls?: {
                toolId: string;
                name: string;
                input: unknown;
            }[];
            native?: unknown;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "thought.delta";
            messageId: string;
            text: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "tool.started";
            toolId: string;
            name: string;
            title: string;
            /** @enum {string} */
            kind: "read" | "edit" | "delete" | "move" | "search" | "execute" | "fetch" | "think" | "ask" | "other";
            input: unknown;
            locations?: {
                path: string;
                line?: number;
            }[];
            parent?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "tool.updated";
            toolId: string;
            text?: string;
            title?: string;
            locations?: {
                path: string;
                line?: number;
            }[];
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "tool.ended";
            toolId: string;
            /** @enum {string} */
            outcome: "ok" | "failed" | "denied" | "cancelled" | "timed_out" | "unknown";
            text: string;
            locations?: {
                path: string;
                line?: number;
            }[];
            diffs?: {
                path: string;
                before: string | null;
                after: string | null;
                truncated?: boolean;
            }[];
            blobs?: {
                /** @constant */
                type: "blob";
                hash: string;
                mediaType: string;
                name?: string;
            }[];
            structured?: unknown;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "permission.requested";
            requestId: string;
            toolId: string;
            tool: string;
            title: string;
            /** @enum {string} */
            kind: "read" | "edit" | "delete" | "move" | "search" | "execute" | "fetch" | "think" | "ask" | "other";
            input: unknown;
            from?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "permission.resolved";
            requestId: string;
            /** @enum {string} */
            decision: "allow" | "deny" | "cancelled";
            /** @enum {string} */
            scope: "once" | "session";
            /** @enum {string} */
            by: "person" | "policy";
            message?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "question.asked";
            requestId: string;
            message: string;
            from?: string;
            schema?: unknown;
            url?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "question.answered";
            requestId: string;
            /** @enum {string} */
            action: "accept" | "decline" | "cancel";
            content?: unknown;
            /** @enum {string} */
            by: "person" | "policy";
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "plan.updated";
            entries: {
                content: string;
                /** @enum {string} */
                status: "pending" | "in_progress" | "completed";
                /** @enum {string} */
                priority?: "high" | "medium" | "low";
            }[];
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "usage.reported";
            model?: string;
            inputTokens: number;
            outputTokens: number;
            cacheReadTokens?: number;
            cacheWriteTokens?: number;
            reasoningTokens?: number;
            costUsd?: number;
            /** @enum {string} */
            costBy?: "reported" | "computed";
            contextUsed?: number;
            contextSize?: number;
            childSessionId?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "mcp.status";
            server: string;
            /** @enum {string} */
            status: "connecting" | "ready" | "needs_login" | "failed" | "gone";
            reason?: string;
            fix?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "tool.chosen";
            tool: string;
            enabled: boolean;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "plugin.saved";
            plugin: string;
            version: string;
            state: unknown;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "process.started";
            pid: number;
            startTime: string;
            marker: string;
            command: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "process.exited";
            pid: number;
            exitCode: number | null;
            signal: string | null;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "output.text";
            text: string;
            from?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "agent.raw";
            data: unknown;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "context.compacted";
            summary: string;
            throughSeq: number;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "budget.set";
            /** @enum {string} */
            of: "session" | "task";
            budget: {
                tokens?: number;
                usd?: number;
                steps?: number;
                seconds?: number;
            };
            elsewhere?: {
                tokens?: number;
                usd?: number;
                steps?: number;
                seconds?: number;
            };
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "budget.raised";
            /** @enum {string} */
            of: "agent" | "session" | "task";
            /** @enum {string} */
            unit: "usd" | "tokens" | "steps" | "seconds";
            to: number | null;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "subagent.started";
            childSessionId: string;
            title: string;
            toolId?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "subagent.ended";
            childSessionId: string;
            outcome: {
                /** @constant */
                status: "done";
                stopReason?: string;
            } | {
                /** @constant */
                status: "cancelled";
            } | {
                /** @constant */
                status: "failed";
                code: string;
                message: string;
            } | {
                /** @constant */
                status: "stalled";
                clock: string;
                message: string;
            };
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            sessionId: string;
            turnId?: string;
            agent: string;
            /** @constant */
            type: "notice";
            /** @enum {string} */
            level: "info" | "warning" | "error";
            code: string;
            message: string;
        };
        SessionSummary: {
            id: string;
            /** @description The seq of its last event. */
            head: number;
            agent: string;
            backend: string;
            model?: string;
            cwd: string;
            title?: string;
            parent?: string;
            /** @description Of a child that its parent's agent began: how deep it is. */
            depth?: number;
            /** @description The task that it is of. */
            task?: string;
            createdAt: string;
            updatedAt: string;
            /** @enum {string} */
            status: "idle" | "running" | "waiting" | "closed" | "copying" | "parked";
            turns: number;
            parkedUntil?: string;
            /** @description Requests that nobody answered yet. */
            waitingFor: string[];
            ofNoTurn?: string[];
            /** @enum {string} */
            lastOutcome?: "done" | "cancelled" | "failed" | "stalled";
            usage?: components["schemas"]["Usage"];
            lastLine?: string;
        };
        SessionList: {
            /** @description The newest first. */
            sessions: components["schemas"]["SessionSummary"][];
            /** @description Give it as `before` for the next page. */
            next?: string;
        };
        OpenSession: {
            /** @description The default one if not said. */
            agent?: string;
            model?: string;
            /** @description A folder of the server's machine. */
            cwd?: string;
            /** @enum {string} */
            permissions?: "ask" | "read" | "all" | "none";
            title?: string;
        };
        Prompt: {
            input: string | ({
                /** @constant */
                type: "text";
                text: string;
            } | {
                /** @constant */
                type: "blob";
                hash: string;
                mediaType: string;
                name?: string;
            })[];
            /** @description Where a turn runs, begin when it has ended. */
            queue?: boolean;
            /**
             * @description Of what is queued: `steer` is given to the turn that runs, at its next step, where its agent can.
             * @enum {string}
             */
            deliver?: "steer" | "follow_up";
        };
        Prompted: {
            sessionId: string;
            turnId?: string;
            /** @description Of its beginning: follow the session after the one before it. */
            seq?: number;
            /** @description Where it was queued. */
            inputId?: string;
        };
        CloseSession: {
            reason?: string;
        };
        DeletedSession: {
            id: string;
        };
        EventPage: {
            events: components["schemas"]["SessionEvent"][];
            /** @description The seq of the last event there is: read on until you have it. */
            head: number;
        };
        WaitingRequest: {
            sessionId: string;
            requestId: string;
            agent: string;
            task?: string;
            at: string;
            /** @enum {string} */
            kind: "permission" | "question";
            title: string;
            /** @description Of a permission. */
            tool?: string;
            /** @enum {string} */
            toolKind?: "read" | "edit" | "delete" | "move" | "search" | "execute" | "fetch" | "think" | "ask" | "other";
            /** @description Of a permission: what the tool is to be called with. */
            input?: unknown;
            /** @description Of a question: who asks. */
            from?: string;
            /** @description Of a question: a JSON schema of what is asked for. */
            schema?: unknown;
            url?: string;
        };
        RequestList: {
            requests: components["schemas"]["WaitingRequest"][];
        };
        Answer: {
            /**
             * @description To a permission.
             * @enum {string}
             */
            decision: "allow" | "deny";
            /** @enum {string} */
            scope?: "once" | "session";
            message?: string;
        } | {
            /**
             * @description To a question.
             * @enum {string}
             */
            action: "accept" | "decline" | "cancel";
            content?: unknown;
        };
        TaskEvent: {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "task.created";
            spec: {
                prompt: string;
                title: string;
                repository: string;
                agent: string;
                provider: string;
                model?: string;
                /** @enum {string} */
                permissions?: "ask" | "read" | "all" | "none";
                base?: string;
                priority: number;
                needs: string[];
                retries: number;
                budget: {
                    tokens?: number;
                    usd?: number;
                    steps?: number;
                    seconds?: number;
                };
                stages: ({
                    name: string;
                    backTo?: string;
                    tries: number;
                    /** @constant */
                    kind: "agent";
                    agent: string;
                    model?: string;
                    prompt?: string;
                    pass?: string;
                } | {
                    name: string;
                    backTo?: string;
                    tries: number;
                    /** @constant */
                    kind: "command";
                    command: string;
                    timeout: number;
                } | {
                    name: string;
                    backTo?: string;
                    tries: number;
                    /** @constant */
                    kind: "merge";
                    /** @enum {string} */
                    how: "merge" | "squash" | "rebase";
                    into?: string;
                    gate?: string;
                })[];
                limits: {
                    repository?: number;
                    agent?: number;
                    provider?: number;
                };
            };
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "task.queued";
            /** @enum {string} */
            why: "resumed" | "continued" | "interrupted" | "retried";
            message?: string;
            /** Format: date-time */
            notBefore?: string;
            prompt?: string;
            budget?: {
                tokens?: number;
                usd?: number;
                steps?: number;
                seconds?: number;
            };
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "task.started";
            run: number;
            owner: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "worktree.made";
            path: string;
            branch: string;
            base: string;
            baseCommit: string;
            port?: number;
            copied?: string[];
            anew: boolean;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "worktree.ready";
            setUp: boolean;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "output.text";
            from: string;
            text: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "stage.started";
            stage: number;
            name: string;
            attempt: number;
            sessionId?: string;
            turns?: number;
            turnId?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "stage.ended";
            stage: number;
            name: string;
            passed: boolean;
            message?: string;
            backTo?: number;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "task.parked";
            /** Format: date-time */
            until: string;
            message: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "task.stop_asked";
            reason?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "task.ended";
            /** @enum {string} */
            outcome: "done" | "failed" | "stopped";
            code?: string;
            message?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "merge.asked";
            mergeId: string;
            /** @enum {string} */
            how: "merge" | "squash" | "rebase";
            into: string;
            gate?: string;
            message?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "merge.prepared";
            mergeId: string;
            commit: string;
            tip?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "merge.ended";
            mergeId: string;
            /** @enum {string} */
            outcome: "merged" | "nothing" | "conflicts" | "gate_failed" | "failed";
            commit?: string;
            tip?: string;
            conflicts?: string[];
            message?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "worktree.removed";
            path: string;
            branch: string;
            forced: boolean;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "task.removed";
            message?: string;
        } | {
            seq: number;
            /** Format: date-time */
            at: string;
            taskId: string;
            /** @constant */
            type: "notice";
            /** @enum {string} */
            level: "info" | "warning" | "error";
            code: string;
            message: string;
        };
        Task: {
            id: string;
            title: string;
            prompt: string;
            /** @enum {string} */
            status: "queued" | "preparing" | "running" | "waiting" | "parked" | "done" | "failed" | "stopped";
            repository: string;
            agent: string;
            priority: number;
            needs: string[];
            createdAt: string;
            startedAt?: string;
            endedAt?: string;
            /** @description Until now. */
            ranMs: number;
            runs: number;
            stage?: string;
            stages: string[];
            /** @description The newest last. */
            sessions: {
                id: string;
                stage: string;
            }[];
            worktree?: {
                path: string;
                branch: string;
                base: string;
                baseCommit: string;
                port?: number;
                removed: boolean;
            };
            /** @description What a person is asked: answered at the session's requests. */
            waitingFor: {
                sessionId: string;
                requestId: string;
            }[];
            notBefore?: string;
            /** @description Why it is as it is. */
            code?: string;
            message?: string;
            usage: components["schemas"]["Usage"];
            lastLine?: string;
            merge?: {
                /** @enum {string} */
                how: "merge" | "squash" | "rebase";
                into: string;
                /** @enum {string} */
                outcome?: "merged" | "nothing" | "conflicts" | "gate_failed" | "failed";
                commit?: string;
                conflicts?: string[];
                message?: string;
            };
            removed: boolean;
        };
        TaskList: {
            /** @description The newest first. */
            tasks: components["schemas"]["Task"][];
            /** @description Give it as `before` for the next page. */
            next?: string;
        };
        StartTask: {
            prompt: string;
            /** @description Made from the prompt if not said. */
            id?: string;
            title?: string;
            /** @description Any folder of the repository, on the server's machine. */
            cwd?: string;
            agent?: string;
            model?: string;
            /** @enum {string} */
            permissions?: "ask" | "read" | "all" | "none";
            /** @description A branch, tag or commit; what is checked out if not said. */
            base?: string;
            /** @description The greater, the sooner. */
            priority?: number;
            /** @description Tasks that must be done first. */
            needs?: string[];
            retries?: number;
            budget?: {
                tokens?: number;
                usd?: number;
                steps?: number;
                seconds?: number;
            };
            /** @description A pipeline of rookery.toml; the agent alone if not said. */
            pipeline?: string;
        };
        StopTask: {
            reason?: string;
        };
        ResumeTask: {
            /** @description What to say to the agent beside "go on". */
            prompt?: string;
            budget?: {
                tokens?: number;
                usd?: number;
                steps?: number;
                seconds?: number;
            };
        };
        MergeTask: {
            /** @enum {string} */
            how?: "merge" | "squash" | "rebase";
            /** @description A branch; the base of the task if not said. */
            into?: string;
            /** @description A command that must pass on the result; the configured one if not said, none for false. */
            gate?: string | false;
            message?: string;
            /** @description Only say what would happen. */
            dryRun?: boolean;
        };
        MergeReport: {
            /** @enum {string} */
            outcome: "merged" | "nothing" | "conflicts" | "gate_failed" | "failed";
            /** @enum {string} */
            how: "merge" | "squash" | "rebase";
            into: string;
            dryRun: boolean;
            commit?: string;
            conflicts: string[];
            commits: number;
            message?: string;
        };
        TaskDiff: {
            base: string;
            files: {
                path: string;
                from?: string;
                /** @enum {string} */
                change: "added" | "modified" | "deleted" | "renamed" | "copied" | "type_changed" | "unmerged" | "untracked";
                additions?: number;
                deletions?: number;
                binary: boolean;
            }[];
            additions: number;
            deletions: number;
            commits: {
                commit: string;
                subject: string;
                author: string;
                at: string;
            }[];
            uncommitted: boolean;
            patch?: string;
            truncated: boolean;
        };
        RemovedTask: {
            id: string;
            /** @description Bytes that are free now. */
            freed: number;
        };
        CollectTasks: {
            dryRun?: boolean;
            cwd?: string;
            /** @description Bytes that all worktrees together may have; 0: as few as can be. */
            quota?: number;
        };
        CollectReport: {
            dryRun: boolean;
            removed: {
                id: string;
                path: string;
                bytes: number;
            }[];
            kept: {
                id: string;
                path: string;
                bytes: number;
                why: string;
            }[];
            freed: number;
            left: number;
        };
        LogEvent: components["schemas"]["SessionEvent"] | components["schemas"]["TaskEvent"];
        FeedPage: {
            events: {
                position: number;
                event: components["schemas"]["LogEvent"];
            }[];
            /** @description The last position there is. */
            head: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    agents: {
        parameters: {
            query?: {
                /** @description A folder of the server's machine; where it runs if not said. */
                cwd?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All agents, those of an untrusted repository left out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentList"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code config_invalid, cwd_missing. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description Only of this agent. */
                agent?: string;
                /** @description Only in this folder. */
                cwd?: string;
                /** @description Only of this task. */
                task?: string;
                /** @description Only forks and children of this session. */
                parent?: string;
                /** @description Only in this state. */
                status?: "idle" | "running" | "waiting" | "closed" | "copying" | "parked";
                /** @description Only older than this one: `next` of the page before. */
                before?: string;
                /** @description At most so many; 100 if not said, 1000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    openSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OpenSession"];
            };
        };
        responses: {
            /** @description It is open. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummary"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code not_trusted, unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code provider_mismatch, provider_unknown, tool_conflict. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code agent_unknown, backend_unsupported, config_invalid, cwd_missing, model_invalid, provider_unconfigured. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal, plugin_failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code agent_unavailable. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    showSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummary"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is as if it had never been. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSession"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_in_use. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description With one, slow work answers 202 and is asked for again. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    agent?: string;
                    model?: string;
                    /** @description A folder of the server's machine. */
                    cwd?: string;
                    /** @enum {string} */
                    permissions?: "ask" | "read" | "all" | "none";
                };
            };
        };
        responses: {
            /** @description It goes on with them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummary"];
                };
            };
            /** @description It goes on: ask again with the same Idempotency-Key. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pending"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code not_trusted, unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code lease_lost, provider_mismatch, provider_unknown, session_closed, session_in_use, tool_conflict. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code agent_unknown, backend_unsupported, config_invalid, cwd_missing, model_invalid, provider_unconfigured. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal, plugin_failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code agent_unavailable. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    promptSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Prompt"];
            };
        };
        responses: {
            /** @description The turn runs: follow the session's events. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Prompted"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code not_trusted, unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code mcp_unknown, session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code lease_lost, provider_mismatch, provider_unknown, session_closed, session_in_use, tool_conflict, turn_in_progress. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code agent_unknown, attachment_missing, backend_unsupported, config_invalid, cwd_missing, model_invalid, provider_unconfigured. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal, plugin_failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code agent_unavailable, mcp_failed, mcp_unavailable. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelTurn: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description No turn runs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummary"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_in_use. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    closeSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CloseSession"];
            };
        };
        responses: {
            /** @description It is closed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummary"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replaceConversation: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The user's first. None begins anew. */
                    messages: {
                        /** @enum {string} */
                        role: "user" | "assistant";
                        text: string;
                    }[];
                };
            };
        };
        responses: {
            /** @description The next turn begins with them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummary"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code not_trusted, unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code lease_lost, provider_mismatch, provider_unknown, session_closed, session_in_use, tool_conflict. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code agent_unknown, backend_unsupported, config_invalid, cwd_missing, model_invalid, provider_unconfigured. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal, plugin_failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code agent_unavailable. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    forkSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The same if not said. */
                    cwd?: string;
                    title?: string;
                };
            };
        };
        responses: {
            /** @description It can be prompted. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummary"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code cwd_missing. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listRequests: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Permissions and questions, those asked first at the top. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestList"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSessionRequests: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Permissions and questions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestList"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    answerRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
                requestId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Answer"];
            };
        };
        responses: {
            /** @description The answer is in the log. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionSummary"];
                };
            };
            /** @description Code input_invalid, usage. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code request_not_found, session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code request_resolved. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sessionEvents: {
        parameters: {
            query?: {
                /** @description What comes after this one; from the first if not said. Of a stream, Last-Event-ID is stronger. */
                after?: number;
                /** @description Of a page: at most so many; 1000 if not said, 10000 at most. A page of large events has fewer: read on until `head`. */
                limit?: number;
            };
            header?: {
                /** @description Of a stream: the last event one has. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, or a stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                    "text/event-stream": string;
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    taskEvents: {
        parameters: {
            query?: {
                /** @description What comes after this one; from the first if not said. Of a stream, Last-Event-ID is stronger. */
                after?: number;
                /** @description Of a page: at most so many; 1000 if not said, 10000 at most. A page of large events has fewer: read on until `head`. */
                limit?: number;
            };
            header?: {
                /** @description Of a stream: the last event one has. */
                "Last-Event-ID"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, or a stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedPage"];
                    "text/event-stream": string;
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code task_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    events: {
        parameters: {
            query?: {
                /** @description What comes after this one; from the first if not said. Of a stream, Last-Event-ID is stronger. */
                after?: number;
                /** @description Of a page: at most so many; 1000 if not said, 10000 at most. A page of large events has fewer: read on until `head`. */
                limit?: number;
            };
            header?: {
                /** @description Of a stream: the last event one has. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, or a stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedPage"];
                    "text/event-stream": string;
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listTasks: {
        parameters: {
            query?: {
                /** @description Only in one of these. */
                status?: ("queued" | "preparing" | "running" | "waiting" | "parked" | "done" | "failed" | "stopped")[];
                /** @description Only of the repository that this folder is in. */
                cwd?: string;
                /** @description Only of this agent. */
                agent?: string;
                /** @description Only older than this one: `next` of the page before. */
                before?: string;
                /** @description At most so many; 100 if not said, 1000 at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskList"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code cwd_missing, repository_missing. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartTask"];
            };
        };
        responses: {
            /** @description It is in the queue. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code not_trusted, unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code task_exists. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code agent_unknown, base_not_found, config_invalid, cwd_missing, identity_missing, model_invalid, repository_bare, repository_empty, repository_missing. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code git_failed, git_missing, internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    collectTasks: {
        parameters: {
            query?: never;
            header?: {
                /** @description With one, slow work answers 202 and is asked for again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CollectTasks"];
            };
        };
        responses: {
            /** @description What went and what stayed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CollectReport"];
                };
            };
            /** @description It goes on: ask again with the same Idempotency-Key. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pending"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code repository_locked. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code cwd_missing, repository_missing. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code git_failed, internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    showTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code task_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeTask: {
        parameters: {
            query?: {
                /** @description Also where something is neither merged nor committed, which is lost then. */
                force?: boolean;
            };
            header?: {
                /** @description With one, slow work answers 202 and is asked for again. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is listed no more. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovedTask"];
                };
            };
            /** @description It goes on: ask again with the same Idempotency-Key. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pending"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code task_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code repository_locked, task_state, worktree_unmerged. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code git_failed, internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stopTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description With one, slow work answers 202 and is asked for again. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StopTask"];
            };
        };
        responses: {
            /** @description It is stopped. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description It goes on: ask again with the same Idempotency-Key. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pending"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code task_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code task_state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resumeTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description What has the same is done once. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ResumeTask"];
            };
        };
        responses: {
            /** @description It is in the queue. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code task_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code session_in_use, task_state, worktree_missing. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    diffTask: {
        parameters: {
            query?: {
                /** @description Also as git prints it. */
                patch?: boolean;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The difference. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskDiff"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code task_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code worktree_missing. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code git_failed, internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    mergeTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description With one, slow work answers 202 and is asked for again. */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["MergeTask"];
            };
        };
        responses: {
            /** @description What happened, or would. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MergeReport"];
                };
            };
            /** @description It goes on: ask again with the same Idempotency-Key. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pending"];
                };
            };
            /** @description Code input_invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code unauthorized. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code not_trusted, unauthorized. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code task_not_found. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code repository_locked, task_state, worktree_missing. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_too_large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code input_invalid. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code base_not_found, config_invalid, identity_missing. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code git_failed, internal. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code interrupted, store_closed, store_locked, store_readonly, store_unavailable. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Code store_full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
