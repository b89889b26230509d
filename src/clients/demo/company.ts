/** One agent of the demo company. `reportsTo` is a name. */
interface Member {
  name: string
  role: string
  title: string
  reportsTo: string | null
  capabilities: string
}

export const COMPANY = {
  name: 'Tern & Co',
  description: 'Five demo agents make a tide table for the harbour. No model and no network is used.',
}

/** In the order in which they are created: a manager before its reports. */
export const TEAM: readonly Member[] = [
  {
    name: 'Ada',
    role: 'ceo',
    title: 'Chief executive',
    reportsTo: null,
    capabilities: 'Sets the strategy, splits the goal into issues and follows them.',
  },
  {
    name: 'Mara',
    role: 'manager',
    title: 'Engineering manager',
    reportsTo: 'Ada',
    capabilities: 'Splits engineering issues and reviews what is handed in.',
  },
  {
    name: 'Rhea',
    role: 'researcher',
    title: 'Researcher',
    reportsTo: 'Ada',
    capabilities: 'Finds things out and answers questions.',
  },
  {
    name: 'Kit',
    role: 'engineer',
    title: 'Engineer, data',
    reportsTo: 'Mara',
    capabilities: 'Reads, checks and stores data.',
  },
  {
    name: 'Ines',
    role: 'engineer',
    title: 'Engineer, page',
    reportsTo: 'Mara',
    capabilities: 'Draws pages that are read on a boat.',
  },
]

export const GOAL = {
  title: 'Every skipper in the harbour knows the next high water',
  description: 'A tide table that is right, readable outdoors and there when the network is not.',
  level: 'company',
  status: 'active',
} as const

export const PROJECT = {
  name: 'Tide table',
  description: 'One page with the tides of the harbour for the coming week.',
  status: 'active',
} as const

/** The issue of the CEO. The agents create the sub-issues from its outline, see `src/clients/demo-agent/outline.ts`. */
export const ROOT_ISSUE = {
  title: 'Launch the tide table',
  priority: 'high' as const,
  description: `The harbour has asked for it by the end of the month.

- Find out where tide data comes from (researcher)
- Build the tide page (manager)
  - Read the tide data (engineer)
    Question: Which datum are the heights measured from?
  - Draw the tide curve (engineer)
  - Show the next high water (engineer)
  - Make the page readable in the sun (engineer)
    Question: Which contrast can be read in full daylight?
- Put the page online (manager)
  - Check the page without a network (engineer)
  - Write down how it is deployed (engineer)
  - Compare a week of tides with the printed table (engineer)
- Write the announcement (researcher)`,
}

/** The number of issues after the agents have expanded the outline, including the CEO's issue. */
export const ISSUE_COUNT = 1 + ROOT_ISSUE.description.split('\n').filter((line) => /^ *- /.test(line)).length
