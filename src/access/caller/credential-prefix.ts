/** The prefix of the long-lived tokens of people. */
export const BOARD_TOKEN_PREFIX = 'svcb_'

/** The prefix of the long-lived keys of agents. */
export const AGENT_KEY_PREFIX = 'svc_'
