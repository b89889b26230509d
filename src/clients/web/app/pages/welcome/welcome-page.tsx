import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Button } from '../../kit/button.tsx'
import { TextField } from '../../kit/field.tsx'
import { plural } from '../../kit/format.ts'
import { Failure, Skeleton } from '../../kit/states.tsx'
import { reasonOf } from '../../state/act.ts'
import { adapterName } from '../../state/adapters.ts'
import { request } from '../../state/api.ts'
import { companies } from '../../state/company.ts'
import { type Query, useQuery } from '../../state/query.ts'
import type { Program, Template } from '../../state/types.ts'
import { DEMO, type Founding, foundCompany, type Start } from './found.ts'

/** The default budget of a company, in US dollars per month; 0 would mean no limit. */
const BUDGET = '50'

/** The setup page of a new company, from its name to its first issue. */
export function WelcomePage() {
  const { route } = useLocation()
  const name = useSignal('')
  const start = useSignal<Start['kind']>('agent')
  const template = useSignal<string | undefined>(undefined)
  const url = useSignal('')
  const agentName = useSignal('Ada')
  const program = useSignal<string | undefined>(undefined)
  const budget = useSignal(BUDGET)
  const title = useSignal('')
  const description = useSignal('')
  const step = useSignal<string | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const templates = useQuery('templates', () => request('GET /api/templates'))
  const programs = useQuery('programs', () => request('GET /api/instance/programs'))
  const isFirst = companies.all.value.length === 0
  useEffect(() => {
    document.title = isFirst ? 'Welcome' : 'New company'
  }, [isFirst])
  // Selects a program that is ready to use, until the person selects one.
  const ready = programs.data.value?.find(({ isFound, isSignedIn }) => isFound && isSignedIn !== false)
  const chosen = program.value ?? (programs.data.value ? (ready?.adapterType ?? DEMO) : undefined)

  const submit = async (event: Event) => {
    event.preventDefault()
    error.value = faultOf()
    if (error.value !== undefined || chosen === undefined) return
    const want: Founding = {
      name: name.value.trim(),
      start:
        start.value === 'agent'
          ? { kind: 'agent', name: agentName.value.trim() || 'Ada' }
          : start.value === 'template'
            ? { kind: 'template', name: template.value! }
            : { kind: 'package', url: url.value.trim() },
      program: chosen,
      budgetMonthlyCents: Math.round(Number(budget.value) * 100),
      issue: { title: title.value.trim(), description: description.value.trim() },
    }
    step.value = 'Creating the company'
    try {
      const { company, issue } = await foundCompany(want, (text) => {
        step.value = text
      })
      route(`/${company.issuePrefix}/${issue ? `issues/${issue.identifier}` : 'inbox'}`)
    } catch (thrown) {
      error.value = reasonOf(thrown)
      step.value = undefined
    }
  }
  const faultOf = () => {
    if (name.value.trim() === '') return 'Give the company a name.'
    if (start.value === 'template' && template.value === undefined) return 'Choose a template.'
    if (start.value === 'package' && !/^https:\/\//.test(url.value.trim()))
      return 'Give the https address of the package.'
    if (!(Number(budget.value) >= 0)) return 'The budget must be a number of dollars.'
    return undefined
  }
  return (
    <main class="welcome" id="content">
      <form onSubmit={submit}>
        <header>
          <h1>{isFirst ? 'Start a company of agents' : 'New company'}</h1>
          <p>
            Agents are programs on this machine. You write issues, they work, and you see every run and every cent.
            {!isFirst && (
              <>
                {' '}
                <a href="/">Back to your companies</a>
              </>
            )}
          </p>
        </header>

        <TextField
          label="Company name"
          placeholder="Tern & Co"
          autoFocus
          value={name.value}
          onInput={(value) => {
            name.value = value
          }}
        />

        <fieldset>
          <legend>Start with</legend>
          <div class="choices">
            <Choice
              name="start"
              isOn={start.value === 'agent'}
              title="One agent"
              text="Add others when you need them."
              onPick={() => {
                start.value = 'agent'
              }}
            />
            {(templates.data.value ?? []).map((one: Template) => (
              <Choice
                key={one.name}
                name="start"
                isOn={start.value === 'template' && template.value === one.name}
                title={one.title}
                text={`${one.agents.map((agent) => agent.title ?? agent.role).join(', ')}; ${plural(one.issues, 'issue')}`}
                onPick={() => {
                  start.value = 'template'
                  template.value = one.name
                }}
              />
            ))}
            <Choice
              name="start"
              isOn={start.value === 'package'}
              title="A package"
              text="A company as files, from a repository."
              onPick={() => {
                start.value = 'package'
              }}
            />
          </div>
          {start.value === 'agent' && (
            <TextField
              label="Name of the agent"
              value={agentName.value}
              onInput={(value) => {
                agentName.value = value
              }}
            />
          )}
          {start.value === 'package' && (
            <TextField
              label="Address"
              type="url"
              placeholder="https://github.com/owner/repository"
              value={url.value}
              onInput={(value) => {
                url.value = value
              }}
            />
          )}
        </fieldset>

        <fieldset>
          <legend>Program that the agents run</legend>
          <Programs
            query={programs}
            chosen={chosen}
            onPick={(value) => {
              program.value = value
            }}
          />
        </fieldset>

        <TextField
          label="Monthly budget"
          prefix="$"
          class="budget"
          hint="Agents stop when it is spent. 0 means no limit."
          value={budget.value}
          onInput={(value) => {
            budget.value = value
          }}
        />

        <fieldset>
          <legend>First issue</legend>
          <TextField
            label="Title"
            placeholder="Write a README for this folder"
            value={title.value}
            onInput={(value) => {
              title.value = value
            }}
          />
          <TextField
            label="Description"
            rows={3}
            placeholder="The task and its acceptance criteria."
            value={description.value}
            onInput={(value) => {
              description.value = value
            }}
          />
        </fieldset>

        {error.value && (
          <p class="error" role="alert">
            {error.value}
          </p>
        )}
        <footer>
          <span class="note" role="status">
            {step.value && `${step.value}…`}
          </span>
          <Button kind="primary" type="submit" isDisabled={step.value !== undefined || chosen === undefined}>
            {title.value.trim() === '' ? 'Create the company' : 'Create and start'}
          </Button>
        </footer>
      </form>
    </main>
  )
}

/** The agent programs of this machine, each with its problems, and the demo agent. */
function Programs({
  query,
  chosen,
  onPick,
}: {
  query: Query<Program[]>
  chosen: string | undefined
  onPick: (value: string) => void
}) {
  if (query.error.value) return <Failure error={query.error.value} onRetry={() => void query.reload()} />
  const found = query.data.value
  if (!found) return <Skeleton rows={3} height={48} />
  return (
    <div class="choices programs">
      {found.map((one) => (
        <Choice
          key={one.adapterType}
          name="program"
          isOn={chosen === one.adapterType}
          title={adapterName(one.adapterType)}
          note={
            !one.isFound ? 'not found' : one.isSignedIn === false ? 'not signed in' : one.isSignedIn ? 'ready' : 'found'
          }
          tone={one.isFound && one.isSignedIn !== false ? 'ok' : 'warn'}
          text={one.hint ?? one.version ?? one.command}
          onPick={() => onPick(one.adapterType)}
        />
      ))}
      <Choice
        name="program"
        isOn={chosen === DEMO}
        title="Demo agent"
        note="built in"
        tone="ok"
        text="Uses no model and costs nothing. It simulates work to demonstrate the service."
        onPick={() => onPick(DEMO)}
      />
    </div>
  )
}

function Choice({
  name,
  isOn,
  title,
  text,
  note,
  tone,
  onPick,
}: {
  name: string
  isOn: boolean
  title: string
  text: string
  note?: string
  tone?: 'ok' | 'warn'
  onPick: () => void
}) {
  return (
    <label class={`choice${isOn ? ' on' : ''}`}>
      <input type="radio" name={name} checked={isOn} onChange={onPick} />
      <span>
        <b>{title}</b>
        {note && <span class={`choice-note ${tone ?? ''}`}>{note}</span>}
        <span class="note">{text}</span>
      </span>
    </label>
  )
}
