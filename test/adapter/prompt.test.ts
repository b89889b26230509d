import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEARTBEAT_SKILL } from '../../src/adapter/heartbeat-skill.ts'
import { buildPrompt, type PromptParts } from '../../src/adapter/prompt.ts'

const parts: PromptParts = {
  agent: { id: 'a-1', name: 'Ada', role: 'engineer', title: 'Engineer' },
  company: { id: 'c-1', name: 'Walnut' },
  runId: 'r-1',
  reasons: ['mention', 'timer'],
  issue: { id: 'i-1', identifier: 'WAL-7', title: 'Fix {{agent.name}}' },
  comment: { id: 'k-1', author: 'Bob', body: 'Look at this.\nPlease.' },
  others: [],
  approval: { id: 'p-1', type: 'hire_agent', status: 'approved', title: null, chosenOption: null, decisionNote: null },
  instructions: { path: '/w/AGENTS.md', text: 'Write tests.\n' },
  skills: [{ name: 'Ink', description: 'Draws\nwith ink.', path: '/s/ink' }],
  promptTemplate: null,
}

test('a prompt contains the identity, the instructions, the procedure and the wake reasons, in this order', () => {
  const prompt = buildPrompt(parts)
  const places = [
    'You are Ada (Engineer), an agent of the company Walnut.',
    '# Your instructions (/w/AGENTS.md)\n\nWrite tests.',
    '# The heartbeat',
    '- Ink (/s/ink/SKILL.md): Draws with ink.',
    'Woken by: mention, timer.',
    'Issue: WAL-7 "Fix {{agent.name}}" (id i-1)',
    'Approval: hire_agent, approved (id p-1)',
    'Comment by Bob (id k-1)',
    '> Look at this.\n> Please.',
  ].map((text) => prompt.indexOf(text))
  assert.ok(
    places.every((place) => place >= 0),
    `${places}`,
  )
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
})

test('a template replaces the opening; unknown placeholders and those in a value are not replaced', () => {
  const promptTemplate = '{{ agent.name }} {{agent.secret}} {{issue.title}} {{constructor}} {{wake.reasons}}'
  const prompt = buildPrompt({ ...parts, promptTemplate })
  assert.ok(prompt.startsWith('Ada {{agent.secret}} Fix {{agent.name}} {{constructor}} mention, timer\n'))
})

test('a prompt lists the other causes of the wake', () => {
  const other = (n: number) => ({
    source: 'issue_assigned',
    issue: { id: `i-${n}`, identifier: `WAL-${n}`, title: `Issue ${n}` },
    commentId: null,
    approval: null,
  })
  const mention = { ...other(8), source: 'mention', commentId: 'k-2' }
  const approval = { ...parts.approval!, id: 'p-2', status: 'rejected' }
  const decision = { source: 'approval_resolved', issue: null, commentId: null, approval }
  const prompt = buildPrompt({
    ...parts,
    others: [mention, decision, ...Array.from({ length: 30 }, (_, n) => other(n))],
  })
  assert.ok(
    prompt.includes('- WAL-8 "Issue 8" (id i-8): mention, comment k-2\n- Approval: hire_agent, rejected (id p-2).'),
  )
  assert.ok(prompt.endsWith('- WAL-17 "Issue 17" (id i-17): issue_assigned\n- and 12 more, in SERVICE_WAKE_CAUSES'))
})

test('a prompt omits empty sections', () => {
  const prompt = buildPrompt({ ...parts, issue: null, comment: null, approval: null, instructions: null, skills: [] })
  assert.ok(prompt.endsWith('Woken by: mention, timer.\nNo single issue: look at your assignments.'))
  assert.ok(!prompt.includes('# Your instructions'))
  assert.ok(!prompt.includes('# Your skills'))
})

test('the skill uses only environment variables of a run', () => {
  const given =
    'API_URL API_KEY AGENT_ID COMPANY_ID RUN_ID WAKE_REASON TASK_ID WAKE_COMMENT_ID APPROVAL_ID APPROVAL_STATUS LINKED_ISSUE_IDS'
  const named = new Set(HEARTBEAT_SKILL.match(/SERVICE_\w+/g))
  assert.deepEqual(named, new Set(given.split(' ').map((name) => `SERVICE_${name}`)))
})
