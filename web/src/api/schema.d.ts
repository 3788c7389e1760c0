// The types of the API. Made by `npm run types` from openapi.json; not written by hand.

export interface paths {
    "/api/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists configured agents and known ones, installed or not */
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists unfinished batches, of this server and of terminals; `?status=all` lists all */
        get: operations["listBatches"];
        put?: never;
        /** Creates a batch of tasks and starts it */
        post: operations["startBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Previews a batch of tasks; nothing is started or written
         * @description What would keep it from starting is in `refusal`; only unknown tasks and malformed requests
         *     are errors.
         */
        post: operations["previewBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a batch */
        get: operations["showBatch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Starts the next task that waits for approval */
        post: operations["approveNext"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancels a batch and responds when it has stopped; all work is kept
         * @description With `rollback`, also removes the branch of a finished batch that has not landed.
         */
        post: operations["cancelBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/consent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows what the next waiting task needs consent for: the files that earlier tasks changed */
        get: operations["showPendingConsent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the changes of a batch, as one patch of at most 5 MB */
        get: operations["showBatchDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/land": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lands the result of a finished batch */
        post: operations["landBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the order of the tasks of a batch */
        get: operations["showBatchPlan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resumes an interrupted batch */
        post: operations["resumeBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stops a batch: running tasks finish, no others start; responds at once
         * @description Tasks that have not started are cancelled; merged work is proved and landed.
         */
        post: operations["stopBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/tasks/{taskId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancels one task and responds when it has stopped; its work is kept */
        post: operations["cancelTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/tasks/{taskId}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the changes of a task, as one patch of at most 5 MB */
        get: operations["showTaskDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/tasks/{taskId}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Shows the transcript of a task
         * @description While the attempt runs, an unfinished line is left out. A page may have fewer lines than requested; continue after
         *     its last one.
         */
        get: operations["showTranscript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/tasks/{taskId}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resolves a conflict: `start` creates a folder, `done` weaves the result, `abort` leaves the task out */
        post: operations["resolveConflict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/tasks/{taskId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retries a task that did not succeed; reopens a finished batch */
        post: operations["retryTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/validation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the test results of a batch and a page of their output */
        get: operations["showValidation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{id}/worktrees": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the worktrees of a batch, including leftover ones */
        get: operations["listWorktrees"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/clusters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists where batches can run */
        get: operations["listClusters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document as a web page; needs no token */
        get: operations["showDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/enter": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchanges the code of a link for a pass
         * @description The page at `/` does this. It works once, and only from that page.
         */
        post: operations["enter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Streams everything that happens, as server-sent events
         * @description Events of the log have their number as `id`. Each is sent once and in order, across reconnects and restarts. Without
         *     a number the stream begins with new events; a number beyond the end of the log is answered with `reset`.
         *     `execution:log`, `execution:progress` and `batch:interrupted` have no number and report only the latest state. The
         *     data of each event is a schema of this document: that of `batch:task:started` is `BatchTaskStartedEvent`.
         */
        get: operations["followEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Creates a link that signs one browser in */
        post: operations["makeLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document
         * @description Its `ETag` is the SHA-256 of its bytes, so that a client can check whether it was generated for this server.
         */
        get: operations["showDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the projects */
        get: operations["listProjects"];
        put?: never;
        /**
         * Adds a project, or shows a hidden one again
         * @description A folder is ready at once (201). A URL is cloned in the background (202): the project is `cloning`, then `ready` or
         *     `failed`.
         */
        post: operations["addProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a project */
        get: operations["showProject"];
        put?: never;
        post?: never;
        /** Hides a project; nothing is deleted, and adding it again shows it again */
        delete: operations["hideProject"];
        options?: never;
        head?: never;
        /** Renames a project */
        patch: operations["renameProject"];
        trace?: never;
    };
    "/api/projects/{id}/parallel/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs the execution plan of a project: several tasks at once if a stage allows it, otherwise one at a time */
        post: operations["startParallel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/parallel/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the progress of the execution plan of a project */
        get: operations["showParallelStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/parallel/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stops the execution plan of a project: running tasks finish, no others start; returns at once */
        post: operations["stopParallel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{id}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Shows the execution plan of a project
         * @description If it comes from a plan file, it consists of the open tasks of that file, and its waves are the batches.
         */
        get: operations["showPlan"];
        /**
         * Sets the execution plan of a project
         * @description Its tasks are added to the board, or updated if their ids exist; batches may name other tasks of the board.
         */
        put: operations["putPlan"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Proves that the server knows the token; needs no token
         * @description A program can check this before it sends the token. ADDRESS is the server's end of the connection, such as
         *     `127.0.0.1:3001`.
         */
        get: operations["prove"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the settings, each with its source */
        get: operations["showSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Changes settings in the user's own file; comments in it are kept */
        patch: operations["changeSettings"];
        trace?: never;
    };
    "/api/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the tasks of a project */
        get: operations["listTasks"];
        put?: never;
        /** Adds a task to the board of a project */
        post: operations["createTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Imports a plan, and makes it the execution plan of the project
         * @description The tasks of a text are added to the board, all or none. A file is kept in sync with the board; importing it again
         *     changes nothing.
         */
        post: operations["importTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a task */
        get: operations["showTask"];
        put?: never;
        post?: never;
        /** Deletes a task, and removes it from the dependencies of other tasks */
        delete: operations["deleteTask"];
        options?: never;
        head?: never;
        /**
         * Changes a task
         * @description For a task of a plan file, only `status`, `priority`, `labels` and `position` can be changed here; the status is
         *     written to the file.
         */
        patch: operations["changeTask"];
        trace?: never;
    };
    "/api/tasks/{id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the attempts at a task in all its batches, newest first */
        get: operations["listAttempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs a single task */
        post: operations["runTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reports that the server is running; needs no token */
        get: operations["showHealth"];
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
        /** Metrics in the text format of Prometheus */
        get: operations["showMetrics"];
        put?: never;
        post?: never;
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
        /** @enum {string} */
        Action: "start" | "done" | "abort";
        /** @description An agent. */
        AgentFound: {
            /** @description The program and its arguments, without secrets; empty if it is built in */
            command: string[];
            /** @description Whether the configuration mentions it; presets need no configuration */
            configured: boolean;
            /** @description What is wrong with its configuration */
            error?: string | null;
            /** @description Whether the program is installed */
            found: boolean;
            /** @description What to do if no login was found */
            hint?: string | null;
            /** @description The command that installs it, if it is known */
            install?: string | null;
            /** @description Whether it is the default agent */
            isDefault: boolean;
            /** @description Whether it is logged in, as far as this machine shows; the network is not used */
            login: components["schemas"]["Login"];
            name: string;
            /** @description The preset it is based on: a name, or `acp:` and a command; null for the user's own command */
            preset?: string | null;
            /** @description Its display name */
            title: string;
            /** @description The version of a preset's program, if it is known */
            version?: string | null;
        };
        /** @description Agents; configured ones come first. */
        Agents: {
            agents: components["schemas"]["AgentFound"][];
        };
        /** @description An approval. */
        Approval: {
            /**
             * @description The fingerprint from `GET /api/batches/{id}/consent`, once a person has consented; refused if it is
             *     outdated
             * @default null
             */
            consent?: string | null;
        };
        /**
         * @description The outcome of an attempt, or of its work.
         * @enum {string}
         */
        AttemptOutcome: "running" | "stopping" | "built" | "limited" | "overloaded" | "asked_again" | "interrupted" | "lost" | "no_changes" | "merged" | "conflicted" | "invalid" | "failed" | "timed_out" | "blocked" | "cancelled";
        /** @description An attempt: one run of an agent on a task. */
        AttemptView: {
            /** @description The name of the agent. */
            agent?: string | null;
            /**
             * Format: int32
             * @description Its number within the batch, counted from 1.
             */
            attempt: number;
            /** Format: int32 */
            batchId: number;
            /**
             * Format: int32
             * @description The number of the batch in its project.
             */
            batchNumber: number;
            /** @description When the agent finished; none while it is running. */
            completedAt?: string | null;
            /**
             * Format: double
             * @description In dollars, if the agent reports it.
             */
            cost?: number | null;
            error?: string | null;
            /** @description The node of the cluster that it ran on. */
            node?: string | null;
            outcome: components["schemas"]["AttemptOutcome"];
            sessionId?: string | null;
            /** @description When it began; on a cluster, when a node began with it. */
            startedAt: string;
            /**
             * Format: int64
             * @description Input and output tokens, if the agent reports them.
             */
            tokens?: number | null;
        };
        /** @description The attempts at a task. */
        Attempts: {
            attempts: components["schemas"]["AttemptView"][];
        };
        /**
         * @description As many as the machine can run.
         * @enum {string}
         */
        AutoWord: "auto";
        /**
         * batch:cancelled
         * @description the batch was cancelled
         */
        BatchCancelledEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
        };
        /**
         * batch:cancelling
         * @description somebody cancelled the batch; `rollback` is keep or remove
         */
        BatchCancellingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            rollback: components["schemas"]["Rollback"];
        };
        /**
         * batch:completed
         * @description the batch completed; `summary` counts outcomes
         */
        BatchCompletedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            prUrl?: string | null;
            summary?: null | components["schemas"]["OutcomeCounts"];
        };
        /**
         * batch:conflict
         * @description a woven task no longer merges without a task that was left out
         */
        BatchConflictEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            files: string[];
            key: string;
            taskId: string;
            with: string[];
        };
        /**
         * batch:created
         * @description the batch was created; `number` is what people see
         */
        BatchCreatedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            keys?: string[];
            mainRepoPath?: string | null;
            mode: components["schemas"]["RunMode"];
            number: number;
            plan?: string | null;
            projectId?: string | null;
            tasks: string[];
            titles?: string[];
        };
        /**
         * batch:failed
         * @description the batch failed: nothing was merged, or a rule failed it
         */
        BatchFailedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            error: string;
        };
        /**
         * batch:fallback
         * @description parallel execution did not work; the remaining tasks run one at a time
         */
        BatchFallbackEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            reason: string;
            stage?: number | null;
        };
        /**
         * batch:finishing
         * @description somebody stopped the batch: running tasks finish, no others start
         */
        BatchFinishingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
        };
        /**
         * batch:held
         * @description the batch is paused: no new tasks start
         */
        BatchHeldEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            reason: string;
        };
        /**
         * batch:interrupted
         * @description no process runs the unfinished batch
         */
        BatchInterruptedEvent: {
            at: string;
            batchId: number;
            projectId: string;
        };
        /**
         * batch:judged
         * @description a test run finished, or its verdict was already known; `tasks` are the woven tasks, `run` is green, red or trouble, `ms` is its duration, `provedAt` the time of a verdict that was already known
         */
        BatchJudgedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            ms: number;
            number?: number | null;
            provedAt?: string | null;
            run: components["schemas"]["RunWord"];
            tasks: string[];
            tree: string;
        };
        /**
         * batch:landed
         * @description the result landed
         */
        BatchLandedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            into?: string | null;
            prUrl?: string | null;
        };
        /**
         * batch:landing
         * @description landing started; `into` is a local branch
         */
        BatchLandingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            into?: string | null;
        };
        /**
         * batch:merging
         * @description the last task finished
         */
        BatchMergingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
        };
        /**
         * batch:not_landed
         * @description the result did not land
         */
        BatchNotLandedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            hint?: string | null;
            reason: string;
        };
        /**
         * batch:not_proved
         * @description the woven result is not proved
         */
        BatchNotProvedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            doubt: components["schemas"]["UnprovedReason"];
            reason: string;
        };
        /** @description Options of a batch; omitted ones are taken from the configuration. */
        BatchOptions: {
            /** @default null */
            agent?: string | null;
            /**
             * @description Whether tasks that declare the same file may run at the same time
             * @default false
             */
            allowOverlap?: boolean;
            /**
             * @description Whether to assume that the base contains the work of earlier batches
             * @default false
             */
            assumeLanded?: boolean;
            /**
             * @description Whether a queue starts its next task without approval
             * @default null
             */
            autoApprove?: boolean | null;
            /**
             * @description The branch, tag or commit to start from
             * @default null
             */
            base?: string | null;
            /**
             * @description Whether a person confirmed the push to the address of a `push_unconfirmed` error
             * @default false
             */
            confirmPush?: boolean;
            /** @default null */
            conflictBehavior?: components["schemas"]["OnConflict"] | null;
            /**
             * @description The fingerprint of a `no_consent` error, once a person has consented
             * @default null
             */
            consent?: string | null;
            /** @default null */
            land?: components["schemas"]["Landing"] | null;
            /**
             * Format: int32
             * @description The number of tasks that run at once, up to 64 on this machine
             * @default null
             */
            maxConcurrent?: number | null;
            /** @default null */
            merge?: components["schemas"]["Strategy"] | null;
            /** @default null */
            mode?: components["schemas"]["RunMode"] | null;
            /** @default null */
            model?: string | null;
            /**
             * @description Whether the batch fails when parallel execution does not work, instead of running the tasks one at a time
             * @default false
             */
            noFallback?: boolean;
            /**
             * Format: double
             * @description The share of a phase that must be completed, skipped or cancelled before a later one starts; 0.8 by default
             * @default null
             */
            phaseThreshold?: number | null;
            /**
             * @description Additional instructions for the agents, or the whole prompt if it contains placeholders such as `{{title}}`
             * @default null
             */
            prompt?: string | null;
            /** @default null */
            stopOnFailure?: boolean | null;
            /**
             * @description Whether a dependency that is not in the plan is an error
             * @default false
             */
            strict?: boolean;
            /**
             * @description The ids of the tasks, all of one project, from its board and its plan files
             * @default []
             */
            taskIds?: string[];
            /**
             * @description The command that proves the result
             * @default null
             */
            validate?: string | null;
            /**
             * @description Whether each wave is woven and proved before the next starts
             * @default false
             */
            waves?: boolean;
            /** @default null */
            where?: components["schemas"]["Where"] | null;
            /**
             * @description Whether to add missing dependencies
             * @default false
             */
            withDeps?: boolean;
        };
        /**
         * batch:predicted
         * @description the likely conflicts changed: all pairs of tasks whose current work would not merge cleanly
         */
        BatchPredictedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            pairs: components["schemas"]["PredictedView"][];
        };
        /** @description A preview of a batch; tasks are identified by their own ids. */
        BatchPreview: {
            /** @description Requested tasks that are already done. */
            leftOut: string[];
            /** @description Missing dependencies: neither done nor in the batch. */
            missing: components["schemas"]["MissingNeeds"][];
            /** @description Tasks that declare the same files; the second of two waits for the first. */
            predictedConflicts: components["schemas"]["PredictedView"][];
            /** @description The address that the result would be pushed to, if any. */
            pushTo?: string | null;
            /** @description Whether `confirmPush` is needed, because this project has never pushed to that address. */
            pushUnconfirmed: boolean;
            refusal?: components["schemas"]["ErrorText"] | null;
            /** @description Tasks whose predecessors are all in earlier waves. */
            stages: components["schemas"]["PreviewStage"][];
            /** @description Warnings; they do not keep the batch from starting. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * batch:progress
         * @description a task started or finished: the counts of `progress` of the batch
         */
        BatchProgressEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            cancelled: number;
            completed: number;
            failed: number;
            percentage: number;
            queued: number;
            running: number;
            skipped: number;
            total: number;
        };
        /**
         * batch:proved
         * @description the tests pass on the woven result
         */
        BatchProvedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            tree: string;
        };
        /**
         * batch:published
         * @description the batch branch was created or moved in your repository
         */
        BatchPublishedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            branch: string;
            tip: string;
        };
        /**
         * batch:pushed
         * @description the batch branch was pushed
         */
        BatchPushedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            branch: string;
            commit: string;
        };
        /**
         * batch:pushing
         * @description the batch branch is about to be pushed; `reason` explains an unusual name
         */
        BatchPushingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            branch: string;
            commit: string;
            reason?: string | null;
        };
        /**
         * batch:reopened
         * @description the batch was reopened, to retry tasks or to land its result
         */
        BatchReopenedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            into?: string | null;
        };
        /**
         * batch:resumed
         * @description the interrupted batch was resumed
         */
        BatchResumedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
        };
        /**
         * batch:rewoven
         * @description the result was woven again, onto another base
         */
        BatchRewovenEvent: {
            at: string;
            base: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            tip: string;
        };
        /**
         * batch:slots
         * @description the number of tasks that may run at once changed; `most` is its maximum
         */
        BatchSlotsEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            most: number;
            reason: string;
            slots: number;
        };
        /**
         * batch:stage:completed
         * @description all tasks of the stage finished; `mergeStatus` is success, conflicts, test_failed or skipped, `duration` is in seconds
         */
        BatchStageCompletedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            duration?: number | null;
            mergeStatus: components["schemas"]["MergeStatus"];
            name?: string | null;
            stage: number;
            success: boolean;
        };
        /**
         * batch:stage:started
         * @description a stage or wave started
         */
        BatchStageStartedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            canParallel?: boolean | null;
            name?: string | null;
            stage: number;
            taskCount?: number | null;
        };
        /**
         * batch:started
         * @description the batch started
         */
        BatchStartedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
        };
        /** @description The fields of a batch that change while it runs. */
        BatchState: {
            completedAt?: string | null;
            error?: string | null;
            estimatedEnd?: string | null;
            held?: string | null;
            prUrl?: string | null;
            progress: components["schemas"]["ProgressView"];
            /** Format: double */
            secondsLeft?: number | null;
            startedAt?: string | null;
            status: components["schemas"]["BatchStatusWord"];
            /** Format: double */
            workedSeconds: number;
        };
        /**
         * @description Where a batch stands, in one word.
         * @enum {string}
         */
        BatchStatusWord: "pending" | "running" | "merging" | "validating" | "landing" | "completed" | "failed" | "cancelled";
        /**
         * batch:stopping
         * @description a rule stopped the batch: no others start
         */
        BatchStoppingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            reason: string;
        };
        /**
         * batch:task:approved
         * @description somebody approved the task
         */
        BatchTaskApprovedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:built
         * @description the work of the task was committed, and waits to be woven
         */
        BatchTaskBuiltEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            commit: string;
            files: string[];
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:cancelled
         * @description somebody cancelled the task
         */
        BatchTaskCancelledEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            key: string;
            outcome: components["schemas"]["TaskOutcome"];
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:completed
         * @description the task succeeded; `outcome` is merged or no_changes
         */
        BatchTaskCompletedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            key: string;
            outcome: components["schemas"]["TaskOutcome"];
            reason?: string | null;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            tip?: string | null;
            worktreeId?: string | null;
        };
        /**
         * batch:task:failed
         * @description the task failed; `outcome` is failed or timed_out
         */
        BatchTaskFailedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            error: string;
            key: string;
            outcome: components["schemas"]["TaskOutcome"];
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:kept
         * @description the state of the worktree was kept
         */
        BatchTaskKeptEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            commit: string;
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:limited
         * @description the agent waits for a usage limit
         */
        BatchTaskLimitedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            error: string;
            key: string;
            pauseMs: number;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:lost
         * @description the machine that ran the attempt is gone; the task was queued again, and no attempt is spent
         */
        BatchTaskLostEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            because: string;
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:placed
         * @description the attempt was assigned to the machine that it waited for
         */
        BatchTaskPlacedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            key: string;
            node: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:published
         * @description the task was left out, and its branch was created in your repository
         */
        BatchTaskPublishedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            branch: string;
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:queued
         * @description the task was queued again
         */
        BatchTaskQueuedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            key: string;
            reason: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:resolved
         * @description somebody resolved the conflict of the task
         */
        BatchTaskResolvedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            commit: string;
            files: string[];
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:retrying
         * @description an attempt failed and will be retried
         */
        BatchTaskRetryingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            error: string;
            key: string;
            pauseMs: number;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:session
         * @description the agent reported its session
         */
        BatchTaskSessionEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            key: string;
            sessionId: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:skipped
         * @description the task was left out; `outcome` is conflicted, invalid or blocked
         */
        BatchTaskSkippedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            files: string[];
            key: string;
            outcome: components["schemas"]["TaskOutcome"];
            reason: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            with?: string[];
            worktreeId?: string | null;
        };
        /**
         * batch:task:spent
         * @description the tokens and cost of an attempt
         */
        BatchTaskSpentEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            costUsd: number;
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            tokens: number;
            worktreeId?: string | null;
        };
        /**
         * batch:task:started
         * @description an attempt started
         */
        BatchTaskStartedEvent: {
            at: string;
            attempt: number;
            basis: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:stopping
         * @description the agent was asked to stop
         */
        BatchTaskStoppingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:taken_over
         * @description another batch took the task while this one was interrupted; `outcome` is its outcome here, blocked if it had none
         */
        BatchTaskTakenOverEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            key: string;
            outcome: components["schemas"]["TaskOutcome"];
            reason: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:task:waiting
         * @description the task waits for approval, or for consent to these files
         */
        BatchTaskWaitingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            consent?: string[];
            key: string;
            task?: null | components["schemas"]["TaskView"];
            taskId: string;
            worktreeId?: string | null;
        };
        /**
         * batch:unheld
         * @description the pause is over
         */
        BatchUnheldEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
        };
        /**
         * batch:unpublished
         * @description the batch branch was removed from your repository
         */
        BatchUnpublishedEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
        };
        /**
         * batch:validating
         * @description the tests run on the woven result
         */
        BatchValidatingEvent: {
            at: string;
            batch?: null | components["schemas"]["BatchState"];
            batchId: number;
            stage?: number | null;
        };
        /** @description A batch. */
        BatchView: {
            base?: string | null;
            /** @description The name of its branch, known from the start; none in a folder that is not a repository. */
            batchBranch?: string | null;
            /** @description Earlier batches whose work it includes because its base does not. */
            buildsOn: components["schemas"]["BuildsOn"][];
            completedAt?: string | null;
            conflicts: components["schemas"]["ConflictView"][];
            createdAt: string;
            /** @description Why it failed or is stopping. */
            error?: string | null;
            estimatedEnd?: string | null;
            /** @description Whether that branch exists in the user's repository. */
            hasBranch: boolean;
            /** @description Why no new tasks start for now. */
            held?: string | null;
            /** Format: int32 */
            id: number;
            /**
             * Format: double
             * @description How long it was interrupted since it started.
             */
            idleSeconds: number;
            /** @description Whether it is unfinished and no process runs it. */
            interrupted: boolean;
            /** @description The local branch that the result can be landed on, if there is no remote. */
            landInto?: string | null;
            mainRepoPath: string;
            mode: components["schemas"]["RunMode"];
            /**
             * Format: int32
             * @description The number of the batch in its project, counted from 1.
             */
            number: number;
            plan: string;
            prUrl?: string | null;
            predictedConflicts: components["schemas"]["PredictedView"][];
            progress: components["schemas"]["ProgressView"];
            projectId: string;
            /**
             * Format: double
             * @description How long it has been running, without interruptions.
             */
            seconds: number;
            /**
             * Format: double
             * @description The estimated time left, from the durations of finished tasks.
             */
            secondsLeft?: number | null;
            settings: components["schemas"]["SettingsView"];
            stages: components["schemas"]["StageView"][];
            startedAt?: string | null;
            status: components["schemas"]["BatchStatusWord"];
            tasks: components["schemas"]["TaskView"][];
            validation: components["schemas"]["ValidationView"];
            /**
             * Format: double
             * @description The total working time of its agents.
             */
            workedSeconds: number;
        };
        /** @description Batches, newest first. */
        Batches: {
            batches: components["schemas"]["BatchView"][];
        };
        /**
         * @description A column of a board.
         * @enum {string}
         */
        BoardColumn: "todo" | "in_progress" | "needs_you" | "done" | "cancelled";
        /** @description A task of a project. */
        BoardTask: {
            batch?: components["schemas"]["LastBatch"] | null;
            /** @description The column of the board that it belongs to. */
            column: components["schemas"]["BoardColumn"];
            /** @description When it was created. */
            createdAt: string;
            /** @description The ids of the tasks that must be done first. */
            dependsOn: string[];
            /** @description The agent's prompt, besides the title. */
            description: string;
            /** @description The files it says it touches. */
            files: string[];
            /** @description Its permanent id; 16 lower-case letters and digits. */
            id: string;
            /** @description Its id in its plan. */
            key: string;
            /** @description Labels to filter and select by. */
            labels: string[];
            /**
             * Format: int32
             * @description Its line in that file.
             */
            line?: number | null;
            /**
             * Format: int32
             * @description Its phase.
             */
            phase?: number | null;
            /** @description The plan file, relative to the project; none for a task of the board. */
            plan?: string | null;
            /**
             * Format: double
             * @description Its position on the board, lowest first.
             */
            position: number;
            /** @description Its priority. */
            priority: components["schemas"]["Priority"];
            /** @description The project. */
            projectId: string;
            /** @description The size that it wants of a cluster's node; none for the default. */
            size?: string | null;
            /** @description Its status. */
            status: components["schemas"]["TaskStatus"];
            /** @description One line of plain text. */
            title: string;
            /** @description When it was last changed. */
            updatedAt: string;
            /** @description The one word that says best where it stands. */
            word: components["schemas"]["TaskWord"];
        };
        /** @description A batch that another one builds on, and whose work the base lacks. */
        BuildsOn: {
            /**
             * Format: int32
             * @description Its number.
             */
            batch: number;
            /** @description Its branch in the user's repository. */
            branch: string;
            /** @description Its pull request, if it has one. */
            prUrl?: string | null;
            /** @description The tasks whose work is used. */
            tasks: string[];
        };
        /** @description Options of a cancellation. */
        Cancelling: {
            /**
             * @description Whether to remove the batch branch too; its work is kept
             * @default false
             */
            rollback?: boolean;
        };
        /** @description A changed file. */
        ChangedFile: {
            /**
             * Format: int64
             * @description The number of added lines; none for a binary file.
             */
            added?: number | null;
            /** @description Its path. */
            path: string;
            /**
             * Format: int64
             * @description The number of removed lines.
             */
            removed?: number | null;
        };
        /** @description This machine, or a cluster. */
        ClusterFound: {
            /** @description Whether batches can be given to it, as far as this machine shows; the cluster itself is not asked */
            available: boolean;
            /** @description What to do about it */
            hint?: string | null;
            /** @description Whether batches run there that do not say otherwise */
            isDefault: boolean;
            /** @description The value for `where` */
            name: components["schemas"]["Where"];
            /** @description Why not */
            reason?: string | null;
            /** @description Its display name */
            title: string;
        };
        /** @description Where a batch can run. */
        Clusters: {
            clusters: components["schemas"]["ClusterFound"][];
        };
        /** @description How an agent ended. */
        Conclusion: {
            /**
             * Format: int32
             * @description The number of denied tool calls.
             */
            denials?: number;
            /** @description Its last message, or what went wrong. */
            message: string;
            /** @description How. */
            outcome: components["schemas"]["Outcome"];
            /**
             * Format: int64
             * @description The time until it can work again, in milliseconds.
             */
            retryAfterMs?: number | null;
        };
        /** @description A task that was left out, and the tasks it conflicts with. */
        ConflictView: {
            files: string[];
            /** @description Its key in the batch. */
            key: string;
            resolving?: components["schemas"]["ResolvingView"] | null;
            taskId: string;
            /** @description The ids of the tasks that it conflicts with. */
            with: string[];
        };
        /** @description A file that does not merge cleanly. */
        ConflictingFile: {
            kind: string;
            path: string;
        };
        /** @description A setting or a file that controls agents or Pleach, and how it differs from what was consented to. */
        ConsentChange: {
            /** @description How the file is reached, or why it needs consent each time */
            because?: string | null;
            /** @description The previous value or content */
            before?: string | null;
            /** @description Whether the contents are omitted because they are long or not text */
            isCut: boolean;
            kind: components["schemas"]["ConsentKind"];
            /** @description The name of the setting, or the path of the file */
            name: string;
            /** @description The current value or content */
            now?: string | null;
            role: components["schemas"]["ConsentRole"];
            what: components["schemas"]["ConsentSubject"];
        };
        /** @enum {string} */
        ConsentKind: "new" | "changed" | "gone" | "unseen";
        /** @enum {string} */
        ConsentRole: "settings" | "servers" | "hooks" | "instructions" | "other";
        /** @enum {string} */
        ConsentSubject: "setting" | "file";
        /** @description Consent and confirmation. */
        Consenting: {
            /**
             * @description Whether a person confirmed the push to the address of a `push_unconfirmed` error
             * @default false
             */
            confirm_push?: boolean;
            /**
             * @description The fingerprint of a `no_consent` error, once a person has consented
             * @default null
             */
            consent?: string | null;
        };
        /** @description The batch after the request. */
        Done: components["schemas"]["BatchView"] & {
            /** @description What was done, for people. */
            message: string;
        };
        /**
         * @description What a task that waits for another makes of its failure.
         * @enum {string}
         */
        EdgeKind: "needs" | "after";
        /** @description A task that waits for another. */
        EdgeView: {
            /** @description The task that runs first. */
            from: string;
            /** @description `needs`, or `after` if the task starts even when the first one fails. */
            kind: components["schemas"]["EdgeKind"];
            /** @description The task that waits. */
            to: string;
        };
        /** @description The code of a link. */
        Entering: {
            /** @description The value of `#enter=` in the link. */
            code: string;
        };
        /** @description One entry of a transcript: something that an agent did or said. */
        Entry: {
            /** @description The id by which the agent can continue it. */
            id?: string | null;
            /** @description The model. */
            model?: string | null;
            /** @enum {string} */
            type: "session";
            /** @description The agent's version. */
            version?: string | null;
        } | {
            /** @description What. */
            text: string;
            /** @enum {string} */
            type: "text";
        } | {
            /** @description What. */
            text: string;
            /** @enum {string} */
            type: "thinking";
        } | {
            /** @description The id of the call. */
            id: string;
            /** @description The input of the tool. */
            input?: unknown;
            /** @description The agent's name of the tool. */
            name: string;
            /** @description What the call does, on one line. */
            title: string;
            /** @description The kind of tool. */
            tool: components["schemas"]["ToolKind"];
            /** @enum {string} */
            type: "tool_call";
        } | {
            /**
             * Format: int64
             * @description The exit code, if it ran a program.
             */
            exit_code?: number | null;
            /** @description The id of the call. */
            id: string;
            /** @description The output of the tool. */
            output: string;
            /** @description How it ended. */
            status: components["schemas"]["ToolStatus"];
            /** @enum {string} */
            type: "tool_result";
        } | {
            /** @description How. */
            change: components["schemas"]["FileChange"];
            /** @description The changed lines as a patch, if the agent reports them. */
            diff?: string | null;
            /** @description The file, relative to the worktree if it is inside. */
            path: string;
            /** @enum {string} */
            type: "file_edit";
        } | {
            /** @description Its steps. */
            steps: components["schemas"]["PlanStep"][];
            /** @enum {string} */
            type: "plan";
        } | (components["schemas"]["Usage"] & {
            /** @enum {string} */
            type: "usage";
        }) | {
            /** @description What it said. */
            message: string;
            /**
             * Format: int64
             * @description The time until the limit resets, in milliseconds.
             */
            retry_after_ms?: number | null;
            /** @enum {string} */
            type: "limit";
        } | {
            /**
             * Format: int32
             * @description The number of the retry, counted from 1.
             */
            attempt: number;
            /**
             * Format: int64
             * @description The pause before it, in milliseconds.
             */
            delay_ms?: number | null;
            /** @description What it said. */
            message: string;
            /** @description The class of the problem. */
            trouble: components["schemas"]["Trouble"];
            /** @enum {string} */
            type: "retry";
        } | {
            /** @description What it said. */
            message: string;
            /** @description The class of the problem. */
            trouble: components["schemas"]["Trouble"];
            /** @enum {string} */
            type: "error";
        } | (components["schemas"]["Conclusion"] & {
            /** @enum {string} */
            type: "result";
        }) | {
            /** @description The line, unchanged. */
            text: string;
            /** @enum {string} */
            type: "raw";
        };
        /** @description The body of every error response. */
        ErrorBody: {
            error: components["schemas"]["ErrorText"];
        };
        /** @description The error. */
        ErrorText: {
            /**
             * @description A stable code.
             * @example task_busy
             */
            code: string;
            /** @description Details for programs; they depend on the code. */
            details?: unknown;
            /** @description The invalid fields of the request. */
            fields?: components["schemas"]["FieldError"][];
            /** @description What to do about it. */
            hint?: string | null;
            /** @description The message, for people. */
            message: string;
        };
        /**
         * execution:log
         * @description an attempt printed something; `total` is the number of lines
         */
        ExecutionLogEvent: {
            at: string;
            attempt: number;
            batchId: number;
            key: string;
            projectId: string;
            taskId: string;
            total: number;
            worktreeId: string;
        };
        /** @description Batches of tasks that run one after the other. */
        ExecutionPlan: {
            /** @description The batches, which become stages of one batch. */
            batches?: components["schemas"]["PlannedBatch"][];
            /** @description The tasks; batches may name other tasks of the board. */
            tasks?: components["schemas"]["PlannedTask"][];
        };
        /**
         * execution:progress
         * @description the current action of the agent, or what it waits for in the queue of a cluster, and the tokens and cost so far
         */
        ExecutionProgressEvent: {
            action?: string | null;
            at: string;
            attempt: number;
            batchId: number;
            costUsd: number;
            key: string;
            projectId: string;
            taskId: string;
            tokens: number;
            worktreeId: string;
        };
        /** @description The progress of the execution plan of a project. */
        ExecutionStatus: {
            /** @description The number of stages. */
            batches_total: number;
            /** @description The number of stages that succeeded. */
            completed_batches: number;
            /** @description The current stage, counted from 1, as `stage` in events. */
            current_batch?: number | null;
            /** @description `sequential`, `parallel` (not running; it would run several tasks at once) or `parallel_running`. */
            execution_mode: string;
            /** @description When the batch that `parallel/start` created started; kept after it finished, until another plan is set. */
            parallel_started_at?: string | null;
        };
        /** @description An invalid field of a request. */
        FieldError: {
            /** @description What is wrong with it. */
            message: string;
            /**
             * @description Its path in the request.
             * @example tasks[2].title
             */
            path: string;
        };
        /**
         * @description How a file was changed.
         * @enum {string}
         */
        FileChange: "add" | "modify" | "delete";
        /** @description The state of the server. */
        Health: {
            /** @example ok */
            status: string;
            version: string;
        };
        /** @description An id of a project or a task. */
        Id: string;
        /** @description An id, written as a string or as a number. */
        IdText: string | number;
        /** @description The imported tasks. */
        Imported: {
            /** @description The tasks, in the order of the plan */
            tasks: components["schemas"]["BoardTask"][];
            warnings: components["schemas"]["PlanWarning"][];
        };
        /** @description The folder of a conflict. */
        LaidOut: {
            /** @description Whether the folder existed already; it is unchanged. */
            begunBefore: boolean;
            files: components["schemas"]["ConflictingFile"][];
            path: string;
        };
        /**
         * @description How a completed batch lands automatically.
         * @enum {string}
         */
        Landing: "pr" | "push" | "local" | "none";
        /** @description Options of a landing. */
        LandingWish: {
            /**
             * @description Whether a person confirmed the push to the address of a `push_unconfirmed` error
             * @default false
             */
            confirmPush?: boolean;
            /**
             * @description A local branch to fast-forward instead of pushing and opening a pull request
             * @default null
             */
            into?: string | null;
            /**
             * @description Whether to land without a proof; no tests are run
             * @default false
             */
            unproved?: boolean;
        };
        /** @description The state of a task in its last batch. */
        LastBatch: {
            /**
             * Format: int32
             * @description The batch.
             */
            id: number;
            /**
             * Format: int32
             * @description The number of the batch in its project.
             */
            number: number;
            outcome?: components["schemas"]["TaskOutcome"] | null;
            /** @description The status of the task in it. */
            status: components["schemas"]["TaskStatusWord"];
        };
        /** @description A link that signs one browser in. */
        Link: {
            /**
             * @description The path to append to the server's address.
             * @example /#enter=6f1c
             */
            path: string;
        };
        /** @description An event with its name. */
        LiveEvent: {
            data: components["schemas"]["BatchCreatedEvent"];
            /** @enum {string} */
            name: "batch:created";
        } | {
            data: components["schemas"]["BatchStartedEvent"];
            /** @enum {string} */
            name: "batch:started";
        } | {
            data: components["schemas"]["BatchResumedEvent"];
            /** @enum {string} */
            name: "batch:resumed";
        } | {
            data: components["schemas"]["BatchProgressEvent"];
            /** @enum {string} */
            name: "batch:progress";
        } | {
            data: components["schemas"]["BatchStageStartedEvent"];
            /** @enum {string} */
            name: "batch:stage:started";
        } | {
            data: components["schemas"]["BatchStageCompletedEvent"];
            /** @enum {string} */
            name: "batch:stage:completed";
        } | {
            data: components["schemas"]["BatchFallbackEvent"];
            /** @enum {string} */
            name: "batch:fallback";
        } | {
            data: components["schemas"]["BatchHeldEvent"];
            /** @enum {string} */
            name: "batch:held";
        } | {
            data: components["schemas"]["BatchUnheldEvent"];
            /** @enum {string} */
            name: "batch:unheld";
        } | {
            data: components["schemas"]["BatchSlotsEvent"];
            /** @enum {string} */
            name: "batch:slots";
        } | {
            data: components["schemas"]["BatchPredictedEvent"];
            /** @enum {string} */
            name: "batch:predicted";
        } | {
            data: components["schemas"]["BatchCancellingEvent"];
            /** @enum {string} */
            name: "batch:cancelling";
        } | {
            data: components["schemas"]["BatchFinishingEvent"];
            /** @enum {string} */
            name: "batch:finishing";
        } | {
            data: components["schemas"]["BatchStoppingEvent"];
            /** @enum {string} */
            name: "batch:stopping";
        } | {
            data: components["schemas"]["BatchMergingEvent"];
            /** @enum {string} */
            name: "batch:merging";
        } | {
            data: components["schemas"]["BatchValidatingEvent"];
            /** @enum {string} */
            name: "batch:validating";
        } | {
            data: components["schemas"]["BatchJudgedEvent"];
            /** @enum {string} */
            name: "batch:judged";
        } | {
            data: components["schemas"]["BatchConflictEvent"];
            /** @enum {string} */
            name: "batch:conflict";
        } | {
            data: components["schemas"]["BatchRewovenEvent"];
            /** @enum {string} */
            name: "batch:rewoven";
        } | {
            data: components["schemas"]["BatchProvedEvent"];
            /** @enum {string} */
            name: "batch:proved";
        } | {
            data: components["schemas"]["BatchNotProvedEvent"];
            /** @enum {string} */
            name: "batch:not_proved";
        } | {
            data: components["schemas"]["BatchPublishedEvent"];
            /** @enum {string} */
            name: "batch:published";
        } | {
            data: components["schemas"]["BatchUnpublishedEvent"];
            /** @enum {string} */
            name: "batch:unpublished";
        } | {
            data: components["schemas"]["BatchLandingEvent"];
            /** @enum {string} */
            name: "batch:landing";
        } | {
            data: components["schemas"]["BatchPushingEvent"];
            /** @enum {string} */
            name: "batch:pushing";
        } | {
            data: components["schemas"]["BatchPushedEvent"];
            /** @enum {string} */
            name: "batch:pushed";
        } | {
            data: components["schemas"]["BatchLandedEvent"];
            /** @enum {string} */
            name: "batch:landed";
        } | {
            data: components["schemas"]["BatchNotLandedEvent"];
            /** @enum {string} */
            name: "batch:not_landed";
        } | {
            data: components["schemas"]["BatchCompletedEvent"];
            /** @enum {string} */
            name: "batch:completed";
        } | {
            data: components["schemas"]["BatchFailedEvent"];
            /** @enum {string} */
            name: "batch:failed";
        } | {
            data: components["schemas"]["BatchCancelledEvent"];
            /** @enum {string} */
            name: "batch:cancelled";
        } | {
            data: components["schemas"]["BatchReopenedEvent"];
            /** @enum {string} */
            name: "batch:reopened";
        } | {
            data: components["schemas"]["BatchTaskWaitingEvent"];
            /** @enum {string} */
            name: "batch:task:waiting";
        } | {
            data: components["schemas"]["BatchTaskApprovedEvent"];
            /** @enum {string} */
            name: "batch:task:approved";
        } | {
            data: components["schemas"]["BatchTaskStartedEvent"];
            /** @enum {string} */
            name: "batch:task:started";
        } | {
            data: components["schemas"]["BatchTaskPlacedEvent"];
            /** @enum {string} */
            name: "batch:task:placed";
        } | {
            data: components["schemas"]["BatchTaskSessionEvent"];
            /** @enum {string} */
            name: "batch:task:session";
        } | {
            data: components["schemas"]["BatchTaskSpentEvent"];
            /** @enum {string} */
            name: "batch:task:spent";
        } | {
            data: components["schemas"]["BatchTaskStoppingEvent"];
            /** @enum {string} */
            name: "batch:task:stopping";
        } | {
            data: components["schemas"]["BatchTaskKeptEvent"];
            /** @enum {string} */
            name: "batch:task:kept";
        } | {
            data: components["schemas"]["BatchTaskBuiltEvent"];
            /** @enum {string} */
            name: "batch:task:built";
        } | {
            data: components["schemas"]["BatchTaskRetryingEvent"];
            /** @enum {string} */
            name: "batch:task:retrying";
        } | {
            data: components["schemas"]["BatchTaskLimitedEvent"];
            /** @enum {string} */
            name: "batch:task:limited";
        } | {
            data: components["schemas"]["BatchTaskQueuedEvent"];
            /** @enum {string} */
            name: "batch:task:queued";
        } | {
            data: components["schemas"]["BatchTaskLostEvent"];
            /** @enum {string} */
            name: "batch:task:lost";
        } | {
            data: components["schemas"]["BatchTaskResolvedEvent"];
            /** @enum {string} */
            name: "batch:task:resolved";
        } | {
            data: components["schemas"]["BatchTaskPublishedEvent"];
            /** @enum {string} */
            name: "batch:task:published";
        } | {
            data: components["schemas"]["BatchTaskCompletedEvent"];
            /** @enum {string} */
            name: "batch:task:completed";
        } | {
            data: components["schemas"]["BatchTaskFailedEvent"];
            /** @enum {string} */
            name: "batch:task:failed";
        } | {
            data: components["schemas"]["BatchTaskSkippedEvent"];
            /** @enum {string} */
            name: "batch:task:skipped";
        } | {
            data: components["schemas"]["BatchTaskTakenOverEvent"];
            /** @enum {string} */
            name: "batch:task:taken_over";
        } | {
            data: components["schemas"]["BatchTaskCancelledEvent"];
            /** @enum {string} */
            name: "batch:task:cancelled";
        } | {
            data: components["schemas"]["TaskCreatedEvent"];
            /** @enum {string} */
            name: "task:created";
        } | {
            data: components["schemas"]["TaskUpdatedEvent"];
            /** @enum {string} */
            name: "task:updated";
        } | {
            data: components["schemas"]["TaskDeletedEvent"];
            /** @enum {string} */
            name: "task:deleted";
        } | {
            data: components["schemas"]["ProjectUpdatedEvent"];
            /** @enum {string} */
            name: "project:updated";
        } | {
            data: components["schemas"]["SettingsUpdatedEvent"];
            /** @enum {string} */
            name: "settings:updated";
        } | {
            data: components["schemas"]["ExecutionLogEvent"];
            /** @enum {string} */
            name: "execution:log";
        } | {
            data: components["schemas"]["ExecutionProgressEvent"];
            /** @enum {string} */
            name: "execution:progress";
        } | {
            data: components["schemas"]["BatchInterruptedEvent"];
            /** @enum {string} */
            name: "batch:interrupted";
        };
        /** @description A part of the output of a test run, cut at whole characters. */
        LogPart: {
            /**
             * Format: int64
             * @description The first byte.
             */
            from: number;
            /** Format: int32 */
            run: number;
            text: string;
            /**
             * Format: int64
             * @description The byte after the last one.
             */
            to: number;
            /**
             * Format: int64
             * @description The total number of bytes.
             */
            total: number;
        };
        /**
         * @description Whether an agent is logged in, as far as can be detected.
         * @enum {string}
         */
        Login: "ok" | "missing" | "unknown";
        /** @description How many tasks of a batch run at once. */
        MaxBatchSize: number | components["schemas"]["AutoWord"];
        /**
         * @description How the weaving of a stage went.
         * @enum {string}
         */
        MergeStatus: "success" | "conflicts" | "test_failed" | "skipped";
        /** @description A task whose dependencies are missing. */
        MissingNeeds: {
            needs: string[];
            taskId: string;
        };
        /** @description A new task. */
        NewBoardTask: {
            /** @description The ids of the tasks that must be done first; at most 200 */
            dependsOn?: string[] | null;
            /** @description The agent's prompt, besides the title; at most 100 kB */
            description?: string | null;
            /** @description At most 50, of at most 50 characters */
            labels?: string[] | null;
            priority?: components["schemas"]["Priority"] | null;
            projectId: components["schemas"]["Id"];
            /** @description The size that it wants of a cluster's node; without one it gets the default */
            size?: string | null;
            /** @description 1 to 500 characters on one line */
            title: string;
        };
        /** @description A project to add: a folder, or an address to clone from. */
        NewProject: {
            /** @description The absolute path of a folder on this machine */
            path?: string | null;
            /** @description The address of a repository: https, http, ssh, git, file, or `user@host:path` */
            url?: string | null;
        };
        /** @description An empty object. */
        Nothing: Record<string, never>;
        /**
         * @description What to do with a task whose branch does not merge cleanly.
         * @enum {string}
         */
        OnConflict: "skip" | "fail" | "rerun";
        /** @description The order of the tasks of a batch. */
        OrderView: {
            /** @description The longest chain of tasks. */
            criticalPath: string[];
            /** @description The dependencies between tasks. */
            edges: components["schemas"]["EdgeView"][];
            /** @description Stages or waves that wait for each other, in order. */
            stages: components["schemas"]["OrderedStage"][];
            /** @description Tasks whose predecessors are all in earlier waves. */
            waves: string[][];
        };
        /** @description A stage or wave that is woven and proved before the next one starts. */
        OrderedStage: {
            /** @description Whether its tasks may run at the same time. */
            canParallel: boolean;
            /** @description Its name in the plan. */
            name: string;
            /** @description Its tasks. */
            tasks: string[];
        };
        /** @description The outcome of an agent. */
        Outcome: "completed" | "interrupted" | {
            /** @description It failed, for this reason. */
            failed: components["schemas"]["Trouble"];
        };
        /** @description The tasks of a completed batch by outcome, and its duration. */
        OutcomeCounts: {
            blocked: number;
            cancelled: number;
            conflicted: number;
            failed: number;
            invalid: number;
            merged: number;
            noChanges: number;
            /** Format: double */
            seconds: number;
            timedOut: number;
        };
        /** @description A value that is overridden. */
        Overridden: {
            source: components["schemas"]["Source"];
            value: unknown;
        };
        /** @description A pass that signs a browser in. */
        Pass: {
            /**
             * @description Sent as `Authorization: Bearer` by the page that requested it; valid until the server stops, for at most 30
             *     days.
             */
            pass: string;
        };
        /** @description The consent that the next waiting task needs. */
        Pending: {
            changes: components["schemas"]["ConsentChange"][];
            /** @description Send this as `consent` when approving the task, once a person has consented */
            fingerprint: string;
            /** @description The id of the task in its plan */
            key: string;
            taskId: string;
        };
        /** @description Empty if no task waits for consent. */
        PendingAnswer: {
            pending?: components["schemas"]["Pending"] | null;
        };
        /** @description One step of an agent's plan. */
        PlanStep: {
            /** @description `pending`, `in_progress` or `completed`, if the agent reports it. */
            status: string;
            /** @description What. */
            text: string;
        };
        /** @description A plan to import: its text, or the path of a file of the project. */
        PlanToImport: {
            /** @description The text of a plan, whose tasks are added to the board */
            markdown?: string | null;
            /** @description A plan file, relative to the project's folder, which the board is kept in sync with */
            path?: string | null;
            projectId: components["schemas"]["Id"];
        };
        /** @description A warning about a plan. */
        PlanWarning: {
            code: string;
            hint?: string | null;
            /** Format: int32 */
            line?: number | null;
            message: string;
        };
        /** @description Tasks that are woven and validated before the next batch starts. */
        PlannedBatch: {
            /** @description Its name. */
            batch_id: components["schemas"]["IdText"];
            /** @description Whether its tasks may run at the same time. */
            can_parallel?: boolean;
            /** @description Its tasks, in order. */
            task_ids: components["schemas"]["IdText"][];
        };
        /** @description A task of an execution plan. Unknown fields are ignored, because other programs write these. */
        PlannedTask: {
            depends_on?: components["schemas"]["IdText"][] | null;
            files?: string[] | null;
            id: components["schemas"]["IdText"];
            labels?: string[] | null;
            priority?: components["schemas"]["Priority"] | null;
            /** @description The agent's prompt, besides the title. */
            prompt?: string | null;
            /** @description The size that it wants of a cluster's node. */
            size?: string | null;
            status?: components["schemas"]["TaskStatus"] | null;
            title?: string | null;
        };
        /** @description Two tasks whose current work would not merge cleanly. */
        PredictedView: {
            files: string[];
            tasks: string[];
        };
        /** @description Tasks that may run at the same time. */
        PreviewStage: {
            /** @description Counted from 1. */
            number: number;
            tasks: string[];
        };
        /**
         * @description How much a task matters, lowest first.
         * @enum {string}
         */
        Priority: "low" | "medium" | "high" | "critical";
        /** @description The number of tasks by status. */
        ProgressView: {
            cancelled: number;
            /** @description Tasks that were merged or needed no change. */
            completed: number;
            failed: number;
            /** @description The share of finished tasks, rounded down. */
            percentage: number;
            /** @description Includes tasks that wait for approval or for a usage limit. */
            queued: number;
            running: number;
            skipped: number;
            total: number;
        };
        /** @description A repository or a folder that Pleach works on. */
        Project: {
            /** @description When it was added. */
            addedAt: string;
            /** @description Why it could not be cloned. */
            error?: string | null;
            /** @description The plan that `pleach run` would use, if no file has been imported; it can be imported by this path. */
            foundPlan?: string | null;
            /** @description Whether it has an execution plan. */
            hasPlan: boolean;
            /** @description The id of the project. */
            id: string;
            /** @description Whether it is a git repository; a plain folder has no branches. */
            isRepository: boolean;
            /** @description Its display name. */
            name: string;
            /** @description Its folder. */
            path: string;
            /** @description Why an imported file is not in sync with the board. */
            planError?: string | null;
            /** @description The plan files that are kept in sync with the board, relative to the folder. */
            planFiles: string[];
            /** @description Whether it is ready to use. */
            status: components["schemas"]["ProjectStatus"];
            /** @description The URL it was cloned from. */
            url?: string | null;
        };
        /** @description Changes to a project. */
        ProjectChange: {
            /** @description 1 to 100 characters on one line */
            name: string;
        };
        /**
         * @description Whether a project is ready to use.
         * @enum {string}
         */
        ProjectStatus: "cloning" | "ready" | "failed";
        /**
         * project:updated
         * @description a project changed: its name, its plan file, its clone
         */
        ProjectUpdatedEvent: {
            at: string;
            projectId?: string | null;
        };
        /** @description Projects, the oldest first. */
        Projects: {
            projects: components["schemas"]["Project"][];
        };
        /** @description A proof that the server knows the token. */
        Proof: {
            /** @description HMAC-SHA-256 with the token as its key, in hexadecimal digits, over `proof of a server at ADDRESS NONCE`. */
            proof: string;
        };
        /** @description The folder of the conflict, or the batch after the action. */
        Resolved: components["schemas"]["LaidOut"] | components["schemas"]["Done"];
        /** @description What to do with a conflict. */
        Resolving: {
            action: components["schemas"]["Action"];
        };
        /** @description A conflict that somebody is resolving. */
        ResolvingView: {
            path: string;
        };
        /**
         * @description What becomes of the batch branch when a batch is cancelled.
         * @enum {string}
         */
        Rollback: "keep" | "remove";
        /**
         * @description Whether tasks run in parallel or one at a time.
         * @enum {string}
         */
        RunMode: "parallel" | "queue" | "serial";
        /** @description A test run. */
        RunView: {
            /**
             * Format: int32
             * @description Its number; none if the verdict was already known.
             */
            number?: number | null;
            /** @description When the tests ran, if the verdict was already known. */
            provedAt?: string | null;
            run: components["schemas"]["RunWord"];
            /** @description The number of tasks in the tested result. */
            tasks: number;
            tree: string;
        };
        /**
         * @description The result of a test run.
         * @enum {string}
         */
        RunWord: "green" | "red";
        /** @description The settings of the settings page, with their sources. A change takes values in the same form. */
        Settings: {
            /** @description What to do with a task that does not merge cleanly */
            conflictBehavior: components["schemas"]["OnConflict"];
            /** @description How many tasks of a batch run at once: 1 to 64, on a cluster to `cluster.most`, or `auto` */
            maxBatchSize: components["schemas"]["MaxBatchSize"];
            /** @description The value of the user's own file, or the default, for each setting that something else overrides */
            overridden: {
                [key: string]: components["schemas"]["Overridden"];
            };
            /**
             * Format: int64
             * @description How many tasks run at once over all batches
             */
            parallelLimit: number;
            /** @description Whether a queue starts its next task without approval */
            queueAutoApprove: boolean;
            /** @description The source of each value, by its name */
            sources: {
                [key: string]: components["schemas"]["Source"];
            };
            /** @description Whether a failed task cancels the rest of the batch */
            stopOnFailure: boolean;
            /** @description Where attempts and tests run */
            where: components["schemas"]["Where"];
        };
        /** @description Changes to settings; absent ones stay as they are. */
        SettingsChange: {
            conflictBehavior?: components["schemas"]["OnConflict"] | null;
            maxBatchSize?: components["schemas"]["MaxBatchSize"] | null;
            /** @description Ignored, as well */
            overridden?: Record<string, never> | null;
            /** Format: int64 */
            parallelLimit?: number | null;
            queueAutoApprove?: boolean | null;
            /** @description Ignored; accepted so that a whole response can be sent back */
            sources?: Record<string, never> | null;
            stopOnFailure?: boolean | null;
            where?: components["schemas"]["Where"] | null;
        };
        /**
         * settings:updated
         * @description the settings changed; `settings` has all of them, as in `GET /api/settings`
         */
        SettingsUpdatedEvent: {
            at: string;
            projectId?: string | null;
            settings: components["schemas"]["Settings"];
        };
        /** @description The main settings of a batch. */
        SettingsView: {
            autoApprove: boolean;
            /** @description The number of tasks that may run at once now. */
            concurrentNow: number;
            conflictBehavior: components["schemas"]["OnConflict"];
            maxConcurrent: number;
            stopOnFailure: boolean;
            /** @description Where its attempts and tests run. */
            where: components["schemas"]["Where"];
        };
        /** @description A patch for programs. */
        ShownPatch: {
            /** @description The changed files, cut off if there are too many. */
            files: components["schemas"]["ChangedFile"][];
            /** @description The patch, cut off if it is too long. */
            patch: string;
            /** @description Whether something was cut off. */
            truncated: boolean;
        };
        /**
         * @description The source of a value.
         * @enum {string}
         */
        Source: "default" | "config.toml" | "pleach.toml" | "variable";
        /** @description A stage or wave. */
        StageView: {
            canParallel: boolean;
            completedAt?: string | null;
            /** @description Whether its tasks run one at a time because parallel execution did not work. */
            fellBack: boolean;
            mergeStatus?: components["schemas"]["MergeStatus"] | null;
            /** @description The `batch_id` from the execution plan, or the number of the wave. */
            name: string;
            /** Format: double */
            seconds?: number | null;
            /** @description Its number, counted from 1. */
            stage: number;
            startedAt?: string | null;
            status: components["schemas"]["BatchStatusWord"];
            taskCount: number;
        };
        /** @description A batch that was started. */
        StartedBatch: components["schemas"]["BatchView"] & {
            /** @description Warnings; they did not keep the batch from starting. */
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * @description The history to write; the resulting tree is the same.
         * @enum {string}
         */
        Strategy: "merge" | "squash" | "rebase" | "octopus";
        /**
         * @description What a person can ask of a task in a batch.
         * @enum {string}
         */
        TaskAction: "cancel" | "retry";
        /** @description Changes to a task; absent fields stay as they are. */
        TaskChanges: {
            dependsOn?: string[] | null;
            description?: string | null;
            labels?: string[] | null;
            /**
             * Format: double
             * @description The position on the board, lowest first
             */
            position?: number | null;
            priority?: components["schemas"]["Priority"] | null;
            /** @description An empty string for the default */
            size?: string | null;
            status?: components["schemas"]["TaskStatus"] | null;
            title?: string | null;
        };
        /**
         * task:created
         * @description a task was added to a board
         */
        TaskCreatedEvent: {
            at: string;
            projectId?: string | null;
            task: components["schemas"]["BoardTask"];
            taskId: string;
        };
        /**
         * task:deleted
         * @description a task was deleted
         */
        TaskDeletedEvent: {
            at: string;
            projectId?: string | null;
            taskId: string;
        };
        /**
         * @description How a task ended, in one word.
         * @enum {string}
         */
        TaskOutcome: "merged" | "no_changes" | "conflicted" | "invalid" | "failed" | "timed_out" | "blocked" | "cancelled";
        /**
         * @description What a plan can say of a task.
         * @enum {string}
         */
        TaskStatus: "pending" | "in_progress" | "completed" | "failed" | "skipped" | "cancelled";
        /**
         * @description The status of a task in a batch.
         * @enum {string}
         */
        TaskStatusWord: "queued" | "waiting" | "limited" | "running" | "completed" | "failed" | "skipped" | "cancelled";
        /**
         * task:updated
         * @description a task changed
         */
        TaskUpdatedEvent: {
            at: string;
            projectId?: string | null;
            task: components["schemas"]["BoardTask"];
            taskId: string;
        };
        /** @description A task of a batch. */
        TaskView: {
            /**
             * Format: int32
             * @description The number of attempts, without those that a usage limit or an overload ended.
             */
            attempts: number;
            /** @description The name of its branch, known from the start; created in the user's repository only if the task is left out. */
            branch?: string | null;
            /** @description What a person can do with it now. */
            can: components["schemas"]["TaskAction"][];
            /** @description The column of the board in which it is shown. */
            column: components["schemas"]["BoardColumn"];
            completedAt?: string | null;
            /** @description The files that need a person's consent before it starts. */
            consent: string[];
            /**
             * Format: double
             * @description In dollars, if the agent reports it.
             */
            cost?: number | null;
            error?: string | null;
            files: string[];
            /** @description Whether that branch exists in the user's repository. */
            hasBranch: boolean;
            /** @description Its id in its plan, prefixed with the name of the plan if another task of the batch has the same id. */
            key: string;
            /**
             * Format: int32
             * @description The number of the last attempt, including those; 0 for none.
             */
            lastAttempt: number;
            /** @description The node of the cluster that runs its attempt, or ran the last one. */
            node?: string | null;
            outcome?: components["schemas"]["TaskOutcome"] | null;
            /** @description The sandbox of its agent: `landlock`, `strict`, `none`, or `wrapper: ` and a program. */
            sandbox: string;
            /**
             * Format: double
             * @description The total working time of its agents.
             */
            seconds: number;
            sessionId?: string | null;
            startedAt?: string | null;
            /** @description Its detailed status. */
            state: components["schemas"]["TaskWord"];
            status: components["schemas"]["TaskStatusWord"];
            /** @description The task's own id, which is the same in every batch. */
            taskId: string;
            title: string;
            /**
             * Format: int64
             * @description Input and output tokens, if the agent reports them.
             */
            tokens?: number | null;
            unit?: components["schemas"]["UnitView"] | null;
            /** @description The word for its status on the board. */
            word: components["schemas"]["TaskWord"];
            worktreeId?: string | null;
            /** @description The path of its worktree, if it exists. */
            worktreePath?: string | null;
        };
        /**
         * @description Where a task stands, in one word.
         * @enum {string}
         */
        TaskWord: "pending" | "in_progress" | "queued" | "waiting" | "limited" | "running" | "stopping" | "built" | "completed" | "merged" | "no_changes" | "conflicted" | "invalid" | "failed" | "timed_out" | "blocked" | "skipped" | "cancelled";
        /** @description Tasks, in the order of the board. */
        Tasks: {
            tasks: components["schemas"]["BoardTask"][];
        };
        /** @description The result of the request. */
        Told: {
            message: string;
            /** @example started */
            status: string;
        };
        /**
         * @description The kind of a tool.
         * @enum {string}
         */
        ToolKind: "read" | "edit" | "delete" | "move" | "search" | "execute" | "fetch" | "think" | "other";
        /**
         * @description The result of a tool call.
         * @enum {string}
         */
        ToolStatus: "ok" | "error" | "denied" | "cancelled";
        /** @description A line of a transcript. */
        TranscriptLine: {
            detail?: components["schemas"]["Entry"] | null;
            /**
             * Format: int64
             * @description Its number, counted from 0.
             */
            line: number;
            /** @description Its text, for people. */
            text: string;
            /**
             * @description Its type.
             * @example raw
             */
            type: string;
        };
        /** @description A page of a transcript. */
        TranscriptPage: {
            /**
             * Format: int32
             * @description The attempt; 0 if none has started.
             */
            attempt: number;
            entries: components["schemas"]["TranscriptLine"][];
            /**
             * Format: int64
             * @description The number of the first line of the page.
             */
            from: number;
            /** @description Whether the attempt has finished, so that no more lines follow. */
            isOver: boolean;
            /**
             * Format: int64
             * @description The total number of lines.
             */
            total: number;
        };
        /**
         * @description The class of a problem, by what can be done about it.
         * @enum {string}
         */
        Trouble: "limit" | "overload" | "login" | "refused" | "budget" | "context" | "configuration" | "network" | "crash" | "other";
        /** @description The request is still being carried out. */
        UnderWay: {
            /**
             * @description Where to look.
             * @example /api/batches/7
             */
            batch: string;
            /** @example cancelling */
            status: string;
        };
        /** @description An attempt that was given to a cluster. */
        UnitView: {
            /** @description Why it waits; in the words of the cluster, if that has it. */
            because?: string | null;
            cluster: components["schemas"]["Where"];
            /** @description What the cluster calls it, once it has it and was asked. */
            job?: string | null;
            /** @description Whether a node has begun with it. */
            state: components["schemas"]["UnitWord"];
        };
        /**
         * @description Whether a cluster has begun with a unit.
         * @enum {string}
         */
        UnitWord: "waiting" | "running";
        /**
         * @description Why a woven result is not proved.
         * @enum {string}
         */
        UnprovedReason: "base_red" | "red" | "trouble";
        /** @description The usage of an agent so far in this attempt. */
        Usage: {
            /**
             * Format: int64
             * @description Input tokens that were read from a cache.
             * @default 0
             */
            cached?: number;
            /**
             * Format: int64
             * @description Input tokens.
             * @default 0
             */
            input?: number;
            /**
             * Format: int64
             * @description Output tokens.
             * @default 0
             */
            output?: number;
            /**
             * Format: int64
             * @description All tokens, including those read from a cache.
             * @default 0
             */
            tokens?: number;
            /**
             * Format: double
             * @description The cost in dollars, if the agent reports it.
             * @default null
             */
            usd?: number | null;
        };
        /** @description The test results of a batch and their output. */
        Validated: components["schemas"]["ValidationView"] & {
            log?: components["schemas"]["LogPart"] | null;
        };
        /** @description The test results of a batch. */
        ValidationView: {
            /** @description Whether the tests fail on the base alone. */
            baseRed: boolean;
            /** @description The test command, if one is set. */
            command?: string | null;
            /** @description Trees on which the tests both failed and passed. */
            flaky: string[];
            /** @description Why the result did not land, if it did not. */
            notLanded?: string | null;
            /** @description When the tests ran on it, if that was in an earlier batch. */
            provedAt?: string | null;
            /** @description Why the result is not proved. */
            reason?: string | null;
            runs: components["schemas"]["RunView"][];
            /** @description The tree on which the tests passed. */
            tree?: string | null;
            verdict: components["schemas"]["Verdict"];
        };
        /**
         * @description The verdict on the result.
         * @enum {string}
         */
        Verdict: "not_configured" | "unknown" | "running" | "proved" | "base_red" | "red" | "trouble";
        /** @description A warning. */
        Warning: {
            code: string;
            hint?: string | null;
            message: string;
        };
        /**
         * @description Where attempts and tests run.
         * @enum {string}
         */
        Where: "local" | "slurm";
        /** @description A worktree, or what is left of one. */
        WorktreeView: {
            branch?: string | null;
            /** @description Whether its files exist. */
            exists: boolean;
            head?: string | null;
            /** @description The id of that task in its plan. */
            key?: string | null;
            path: string;
            /** Format: int64 */
            seconds?: number | null;
            /** @description `in_use`, `left`, `resolving`, `half_made`, `going`, `folder_gone` or `unregistered`. */
            state: string;
            /** @description The id of its task, if it has one. */
            taskId?: string | null;
        };
        /** @description The worktrees of a batch. */
        Worktrees: {
            worktrees: components["schemas"]["WorktreeView"][];
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
    listAgents: {
        parameters: {
            query?: {
                /** @description The id of a project, to include its `pleach.toml` */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agents"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listBatches: {
        parameters: {
            query?: {
                /** @description `active` (unfinished batches), or `all` */
                status?: "active" | "all";
                /** @description The id of a project */
                project?: string;
                /** @description The number of a batch in the project, finished or not */
                number?: number;
                /** @description The maximum number of batches, 1 to 500; 50 by default */
                limit?: number;
                /** @description Only batches created before the one with this id */
                before?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batches"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    startBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 200 printable ASCII characters; the same key and body create only one batch within 7 days */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchOptions"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedBatch"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    previewBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchOptions"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchPreview"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchView"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    approveNext: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Approval"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnderWay"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    cancelBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description `wait=30`: seconds to wait for the effect, at most 60 */
                Prefer?: string | null;
            };
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Cancelling"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnderWay"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showPendingConsent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingAnswer"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showBatchDiff: {
        parameters: {
            query?: {
                /** @description `ignore` ignores changes in whitespace */
                whitespace?: "show" | "ignore";
            };
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownPatch"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    landBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description `wait=30`: seconds to wait for the effect, at most 60 */
                Prefer?: string | null;
            };
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LandingWish"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnderWay"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showBatchPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderView"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    resumeBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnderWay"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    stopBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnderWay"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    cancelTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description `wait=30`: seconds to wait for the effect, at most 60 */
                Prefer?: string | null;
            };
            path: {
                /** @description The id of the batch */
                id: number;
                /** @description The task, by its key in the batch or its id */
                taskId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnderWay"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showTaskDiff: {
        parameters: {
            query?: {
                /** @description `ignore` ignores changes in whitespace */
                whitespace?: "show" | "ignore";
            };
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
                /** @description The task, by its key in the batch or its id */
                taskId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownPatch"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showTranscript: {
        parameters: {
            query?: {
                /** @description The first line, counted from 0; `tail` or a negative number for the last page. */
                from?: string;
                /** @description The maximum number of lines, 1 to 5000. */
                limit?: number;
                /** @description The attempt; the last one by default. */
                attempt?: number;
            };
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
                /** @description The task, by its key in the batch or its id */
                taskId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptPage"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    resolveConflict: {
        parameters: {
            query?: never;
            header?: {
                /** @description `wait=30`: seconds to wait for the effect, at most 60 */
                Prefer?: string | null;
            };
            path: {
                /** @description The id of the batch */
                id: number;
                /** @description The task, by its key in the batch or its id */
                taskId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Resolving"];
            };
        };
        responses: {
            /** @description For `start` where it is laid out, else the batch */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Resolved"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnderWay"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    retryTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
                /** @description The task, by its key in the batch or its id */
                taskId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Nothing"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnderWay"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showValidation: {
        parameters: {
            query?: {
                /** @description The number of the run; the last one by default */
                run?: number;
                /** @description The first byte; by default as much of the end as fits */
                from?: number;
                /** @description The number of bytes, at most 1 MiB */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Validated"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listWorktrees: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the batch */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worktrees"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listClusters: {
        parameters: {
            query?: {
                /** @description The id of a project, to include its `pleach.toml` */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Clusters"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    enter: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Entering"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pass"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the link was already used or has expired */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    followEvents: {
        parameters: {
            query?: {
                /** @description Resume after the event with this number; `Last-Event-ID` overrides it. */
                from?: number;
                /** @description Only events of this project, and those of no project. */
                project?: string;
                /** @description Only events of this batch. */
                batch?: number;
            };
            header?: {
                /** @description Resume after the event with this number */
                "Last-Event-ID"?: number | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    makeLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Link"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description `If-None-Match` matches */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listProjects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Projects"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    addProject: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProject"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showProject: {
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
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    hideProject: {
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
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    renameProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    startParallel: {
        parameters: {
            query?: never;
            header?: {
                /** @description As for POST /api/batches */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Consenting"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Told"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showParallelStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionStatus"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    stopParallel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the project */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Told"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showPlan: {
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
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionPlan"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    putPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecutionPlan"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionPlan"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    prove: {
        parameters: {
            query: {
                /** @description 1 to 128 random letters and digits; use new ones for each request. */
                nonce: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Proof"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showSettings: {
        parameters: {
            query?: {
                /** @description The id of a project, to include its `pleach.toml` */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    changeSettings: {
        parameters: {
            query?: {
                /** @description The id of a project, to include its `pleach.toml` */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingsChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listTasks: {
        parameters: {
            query: {
                /** @description The id of a project */
                project: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tasks"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    createTask: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBoardTask"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardTask"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    importTasks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanToImport"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Imported"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
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
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardTask"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    deleteTask: {
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
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    changeTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskChanges"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BoardTask"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listAttempts: {
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
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Attempts"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    runTask: {
        parameters: {
            query?: never;
            header?: {
                /** @description As for POST /api/batches */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The id of the task */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BatchOptions"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedBatch"];
                };
            };
            /** @description the request is malformed */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the body is not JSON */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description the token is missing or wrong */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description a foreign host or origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
            /** @description the server is stopping or overloaded, or the machine has a problem */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
}
