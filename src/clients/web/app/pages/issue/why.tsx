import { signal } from '@preact/signals'
import { Dialog } from '../../kit/dialog.tsx'
import { money, plural } from '../../kit/format.ts'
import { Loaded, Skeleton } from '../../kit/states.tsx'
import { Ago, Took } from '../../kit/time.tsx'
import { type Received, request } from '../../state/api.ts'
import { pathTo } from '../../state/company.ts'
import { useQuery } from '../../state/query.ts'
import type { Issue } from '../../state/types.ts'

type Step = Received<'GET /api/issues/:issueId/why'>['steps'][number]

const subject = signal<Issue | undefined>(undefined)

/** Displays the history of an issue, with the cause of each event. */
export const openWhy = (issue: Issue) => {
  subject.value = issue
}

/** The maximum number of steps. The latest are loaded. */
const LIMIT = 200

/** The dialog of `openWhy`. The issue page mounts it once. */
export function WhyDialog() {
  const issue = subject.value
  return issue ? <Story issue={issue} /> : null
}

function Story({ issue }: { issue: Issue }) {
  const query = useQuery(`why/${issue.id}`, () =>
    request('GET /api/issues/:issueId/why', { params: { issueId: issue.id }, query: { limit: LIMIT } }),
  )
  return (
    <Dialog
      title={`History of ${issue.identifier}`}
      width={760}
      onClose={() => {
        subject.value = undefined
      }}
    >
      <div class="dialog-body why">
        <Loaded query={query} skeleton={<Skeleton rows={10} height={26} />}>
          {({ steps, runCount, costCents, isCut }) => (
            <>
              <p class="note">
                {plural(runCount, 'run')}, {money(costCents)}. Each step stands below what caused it.
                {isCut && ' Earlier steps are left out.'}
              </p>
              <ol>
                {steps.map((step) => (
                  <StepLine key={step.id} step={step} />
                ))}
              </ol>
            </>
          )}
        </Loaded>
      </div>
    </Dialog>
  )
}

/** The maximum indentation, in steps. */
const MAX_DEPTH = 8

function StepLine({ step }: { step: Step }) {
  const close = () => {
    subject.value = undefined
  }
  return (
    <li class={`why-${step.kind}`} style={{ '--depth': Math.min(step.depth, MAX_DEPTH) }}>
      <span class="event-mark" aria-hidden="true" />
      <span class="why-text">
        {step.kind === 'run' ? (
          <a class="link" href={pathTo(`runs/${step.id}`)} onClick={close}>
            {step.text}
          </a>
        ) : (
          step.text
        )}
      </span>
      <span class="why-end note">
        {step.kind === 'run' && <Took from={step.at} to={step.endedAt} />}
        {step.costCents ? <span class="num">{money(step.costCents)}</span> : null}
        <Ago at={step.at} />
      </span>
    </li>
  )
}
