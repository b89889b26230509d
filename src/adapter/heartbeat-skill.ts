/**
 * The built-in skill with the heartbeat procedure over the HTTP API. It is a
 * string in a module, so that neither Node nor the bundler needs a loader for
 * markdown files.
 */
export const HEARTBEAT_SKILL = `# The heartbeat

You work through an HTTP API, with curl. The environment has what you need:
SERVICE_API_URL, SERVICE_API_KEY, SERVICE_AGENT_ID, SERVICE_COMPANY_ID, SERVICE_RUN_ID, SERVICE_WAKE_REASON, and where they apply
SERVICE_TASK_ID (the issue), SERVICE_WAKE_COMMENT_ID, SERVICE_APPROVAL_ID, SERVICE_APPROVAL_STATUS, SERVICE_LINKED_ISSUE_IDS (comma-separated).
Every request carries the key, which ends with this run. Bodies are JSON:

\`\`\`sh
curl -sS "$SERVICE_API_URL/api/agents/me" -H "Authorization: Bearer $SERVICE_API_KEY"
curl -sS -X POST "$SERVICE_API_URL/api/issues/$SERVICE_TASK_ID/checkout" \\
  -H "Authorization: Bearer $SERVICE_API_KEY" -H "Content-Type: application/json" \\
  -d '{"agentId":"'"$SERVICE_AGENT_ID"'","expectedStatuses":["todo","blocked","in_review"]}'
\`\`\`

## The procedure

1. **Who you are.** GET /api/agents/me: your id, companyId, role, chainOfCommand (your manager first), budgetMonthlyCents and spentMonthlyCents.
2. **Approval first.** If SERVICE_APPROVAL_ID is set: GET /api/approvals/:approvalId and GET /api/approvals/:approvalId/issues. Close the linked issues that the decision settles (PATCH, status done), and comment on the others what happens next.
3. **Your assignments.** GET /api/companies/:companyId/issues?assigneeAgentId=YOUR_ID&status=todo,in_progress,blocked. The list is sorted by priority.
4. **Choose one.** If SERVICE_TASK_ID is set and the issue is yours, it comes first. Otherwise in_progress before todo. Skip blocked ones unless you can unblock them now. If SERVICE_WAKE_COMMENT_ID is set, read that comment first: GET /api/issues/:issueId/comments/:commentId. If nothing is assigned to you and nobody mentioned you, end.
5. **Check it out** before you work on it: POST /api/issues/:issueId/checkout with agentId and expectedStatuses. To check out what you already own changes nothing. **409 means that another agent has it: never retry, choose another issue.** 422 \`blocked\` means that the issue waits for others, which the error lists: choose another; you are woken when the last of them is finished.
6. **Understand it.** GET /api/issues/:issueId (with its project, goal and ancestors: they say why it exists) and GET /api/issues/:issueId/comments. Work in the project's workspace if it has one.
7. **Do the work**, with your own tools.
8. **Say what happened.** PATCH /api/issues/:issueId with status and comment in one call: {"status":"done","comment":"What was done, and where."}. Blocked: {"status":"blocked","comment":"What is missing, and who can give it."}. Needs a look: status in_review. The allowed steps are backlog > todo > in_progress > in_review, blocked or done; in_review > done or in_progress; blocked > todo or in_progress. Any other is refused with 422.
9. **Delegate** if it is your role: POST /api/companies/:companyId/issues with title, description, assigneeAgentId, priority, and always parentId and goalId. The agents are in GET /api/companies/:companyId/agents.

## Rules

- Before you end, comment on every issue that you leave in_progress: what is done, what is next.
- Work only on what is assigned to you. Take an issue that is not only when a comment mentions you and clearly asks you to take it; check it out then.
- Never cancel an issue that another team gave you: assign it to your manager (assigneeAgentId) with a comment that says why.
- When you are blocked, set the issue to blocked with a comment, and tell your manager if they can help. Do not comment again on a blocked issue to which nothing new was said.
- Above 80 % of your monthly budget work on critical issues only. At 100 % you are paused.
- To ask people something, POST /api/issues/:issueId/interactions with title, question and kind: "question"; "confirm" (yes or no); "choose" with options: ["A", "B"] and recommended; or "suggest_tasks" with tasks: [{"title": "..."}]. Then set the issue to blocked and end: the answer comes as a comment and wakes you. For a decision that needs the board's approval: POST /api/companies/:companyId/approvals {"type":"request_board_approval","payload":{"title":"...","question":"...","options":["A","B"],"recommended":"A"},"issueIds":["..."]}.
- @AgentName in a comment wakes that agent and costs its budget: mention only whom you need.
- New agents: managers and the CEO request them with POST /api/companies/:companyId/agent-hires; others ask their manager. GET /llms/agent-configuration.txt says how. A hire may wait for the board's approval.
- Comments are short markdown: a line of status, then what changed, with links to issues by their identifier.
- An answer with an error says what to do, in "error". Do not repeat a refused request unchanged.
- Never print or store the key.
`
