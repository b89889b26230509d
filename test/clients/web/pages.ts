/** Every page, below the address of a company. `:issue`, `:agent` and `:run` are replaced by something that exists. */
export const PAGES: readonly string[] = [
  '../welcome',
  'agents',
  'agents/:agent',
  'agents/:agent?tab=configuration',
  'agents/:agent?tab=revisions',
  'inbox',
  'issues',
  'issues?view=board',
  'issues/:issue',
  'runs',
  'runs/:run',
  'runs/:run?view=raw',
  'dashboard',
  'costs',
  'costs?by=issue',
  'activity',
]
