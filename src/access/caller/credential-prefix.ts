/** How the long-lived tokens of people begin. */
export const BOARD_TOKEN_PREFIX = 'svcb_'

/** How the long-lived keys of agents begin. */
export const AGENT_KEY_PREFIX = 'svc_'
