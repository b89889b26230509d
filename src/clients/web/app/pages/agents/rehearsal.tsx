import { Copyable } from '../../kit/copyable.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Facts } from '../../kit/facts.tsx'
import { duration, words } from '../../kit/format.ts'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { type Received, request } from '../../state/api.ts'
import { rehearsed } from '../../state/dialogs.ts'
import { useQuery } from '../../state/query.ts'
import type { Agent } from '../../state/types.ts'

type Rehearsal = Received<'POST /api/agents/:agentId/rehearse'>

/** The dialog of a rehearsal. The frame mounts it once. */
export function RehearsalDialog() {
  return rehearsed.value ? <Shown agent={rehearsed.value} /> : null
}

function Shown({ agent }: { agent: Agent }) {
  const query = useQuery(
    `rehearsal/${agent.id}`,
    () => request('POST /api/agents/:agentId/rehearse', { params: { agentId: agent.id } }),
    ({ data }) => data.entityType === 'agent' || data.entityType === 'issue',
  )
  return (
    <Dialog
      title={`Rehearsal of ${agent.name}`}
      width={720}
      onClose={() => {
        rehearsed.value = undefined
      }}
    >
      <div class="dialog-body rehearsal">
        <Loaded query={query} skeleton={<Skeleton rows={8} />}>
          {(found) => <Report found={found} />}
        </Loaded>
      </div>
    </Dialog>
  )
}

function Report({ found }: { found: Rehearsal }) {
  const { wouldRun, agentName, gates, notes, argv, cwd, session, limits, environment, prompt } = found
  return (
    <>
      <p class={wouldRun ? 'ok' : 'warn'}>
        <b>
          {wouldRun
            ? `${agentName} would run: ${words(found.wakeReason).toLowerCase()}.`
            : `${agentName} would not run.`}
        </b>
      </p>
      {gates.length + notes.length > 0 && (
        <ul class="rehearsal-notes">
          {gates.map(({ message, effect }) => (
            <li key={message} class="warn">
              {words(effect)}: {message}
            </li>
          ))}
          {notes.map((note) => (
            <li key={note} class="note">
              {note}
            </li>
          ))}
        </ul>
      )}
      {argv && (
        <>
          <h3>Command</h3>
          <Copyable text={argv.map(quoted).join(' ')} />
        </>
      )}
      <Facts
        rows={[
          ['Directory', cwd && <code>{cwd}</code>],
          ['Session', session && (session.mode === 'resumed' ? `resumes ${session.id}` : 'a fresh one')],
          ['Limits', limits && limitsOf(limits)],
          ['Variables', environment && <code class="rehearsal-names">{environment.join(' ')}</code>],
        ]}
      />
      {prompt && (
        <>
          <h3>Prompt</h3>
          <pre class="quoted" tabIndex={0}>
            {prompt}
          </pre>
        </>
      )}
    </>
  )
}

const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

const limitsOf = ({ timeoutSec, silenceSec, graceSec }: NonNullable<Rehearsal['limits']>) =>
  [
    timeoutSec === null ? 'no time limit' : `${duration(timeoutSec * 1_000)} at most`,
    silenceSec !== null && `${duration(silenceSec * 1_000)} of silence`,
    `${duration(graceSec * 1_000)} to stop`,
  ]
    .filter(Boolean)
    .join(', ')
