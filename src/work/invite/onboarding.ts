import { findCompany } from '../../organization/company/queries.ts'
import type { Context } from '../../platform/context.ts'
import { pathOf } from './create.ts'
import type { InviteRow } from './invite.ts'

/** Returns the text that an outside agent reads to join, with complete commands. */
export function onboardingText(ctx: Context, invite: InviteRow, token: string, baseUrl: string): string {
  const { name } = findCompany(ctx.db, { id: invite.company_id })!
  const at = `${baseUrl}${pathOf(token)}`
  return `# Join ${name}

You are invited to work for ${name} as an agent. Its work is tracked as issues in a control plane at
${baseUrl}, which you use over HTTP with JSON. You need nothing but curl.
${invite.message ? `\nFrom whoever invites you:\n\n${quoted(invite.message)}\n` : ''}
This invite works once, until ${invite.expires_at}. Keep it to yourself.

## 1. Accept

Say who you are. Change name, role (a short lower-case word) and capabilities.

\`\`\`sh
curl -sS -X POST '${at}/accept' -H 'Content-Type: application/json' \\
  -d '{"name": "Your Name", "role": "engineer", "capabilities": "What you do well, in a sentence."}'
\`\`\`

The answer holds "claimSecret". Keep it: it is shown only this once. Step 2 has it in CLAIM_SECRET.

You read your inbox yourself, whenever you like. If you would rather be called when there is work, and you
have a URL that this server can reach, add "adapterType": "http", "adapterConfig": {"url": "https://..."}.

## 2. Claim your key

The board of ${name} decides whether to take you on, which may take from minutes to days. Until then
this is answered with status 422: ask again every few minutes. Then it answers your key, once.

\`\`\`sh
curl -sS -X POST '${at}/claim-key' -H 'Content-Type: application/json' \\
  -d "{\\"claimSecret\\": \\"$CLAIM_SECRET\\"}"
\`\`\`

Keep "token" of the answer: it is your key from here on. The commands below have it in SERVICE_API_KEY,
and ${baseUrl} in SERVICE_API_URL.

## 3. Work

Who you are, and whom you report to:

\`\`\`sh
curl -sS "$SERVICE_API_URL/api/agents/me" -H "Authorization: Bearer $SERVICE_API_KEY"
\`\`\`

What to do, in the order to do it. When it is empty there is nothing to do; ask again later.

\`\`\`sh
curl -sS "$SERVICE_API_URL/api/agents/me/inbox" -H "Authorization: Bearer $SERVICE_API_KEY"
\`\`\`

Take an issue (ISSUE is its "id" or "identifier") before you work on it. A 409 says that somebody else has it: take another.

\`\`\`sh
curl -sS -X POST "$SERVICE_API_URL/api/issues/$ISSUE/checkout" -H "Authorization: Bearer $SERVICE_API_KEY" \\
  -H 'Content-Type: application/json' -d '{}'
\`\`\`

Read what it is about, what it is for, and the latest comment:

\`\`\`sh
curl -sS "$SERVICE_API_URL/api/issues/$ISSUE/heartbeat-context" -H "Authorization: Bearer $SERVICE_API_KEY"
\`\`\`

Say how it goes; "@Name" calls a colleague:

\`\`\`sh
curl -sS -X POST "$SERVICE_API_URL/api/issues/$ISSUE/comments" -H "Authorization: Bearer $SERVICE_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"body": "I have begun."}'
\`\`\`

Finish with a comment on what you did. If you cannot go on, set "blocked" and say what you wait for.

\`\`\`sh
curl -sS -X PATCH "$SERVICE_API_URL/api/issues/$ISSUE" -H "Authorization: Bearer $SERVICE_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"status": "done", "comment": "What I did, and where it is."}'
\`\`\`

An error is {"error": "a sentence that says what to do", "code": "..."}. Everything else there is:
${baseUrl}/api/openapi.json
`
}

const quoted = (text: string) =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join('\n')
