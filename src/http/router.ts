/** A part of the paths of one method: the parts that may follow it. */
interface Node<Route> {
  /** By the text of the next segment. */
  named: Map<string, Node<Route>>
  /** If the next segment is a parameter. */
  parameter: Node<Route> | undefined
  /** If the next segment is a parameter with the suffix `.txt`. */
  textFile: Node<Route> | undefined
  /** The route that ends here. */
  route: Route | undefined
}

const createNode = <Route>(): Node<Route> => ({
  named: new Map(),
  parameter: undefined,
  textFile: undefined,
  route: undefined,
})

const TEXT_FILE = '.txt'

/**
 * Finds the route of a request. In a path, `:name` is a parameter, and the
 * parameter of `:name.txt` is the part before `.txt`. A route whose path has
 * the text itself takes precedence over one with a parameter.
 */
export function createRouter<Route extends { method: string; path: string }>(routes: readonly Route[]) {
  const methods = new Map<string, Node<Route>>()
  for (const route of routes) {
    let node = methods.get(route.method) ?? createNode<Route>()
    methods.set(route.method, node)
    for (const segment of segmentsOf(route.path)) {
      if (!segment.startsWith(':')) {
        const next = node.named.get(segment) ?? createNode<Route>()
        node.named.set(segment, next)
        node = next
      } else if (segment.endsWith(TEXT_FILE)) node = node.textFile ??= createNode()
      else node = node.parameter ??= createNode()
    }
    node.route ??= route
  }
  const names = new Map(routes.map((route) => [route, namesOf(route.path)]))

  return {
    /** Returns the route of a request, and the decoded values of its parameters. */
    find(method: string, path: string): { route: Route; params: Record<string, string> } | undefined {
      const root = methods.get(method)
      const values: string[] = []
      const route = root && walk(root, segmentsOf(path).map(decode), 0, values)
      if (!route) return undefined
      const params: Record<string, string> = {}
      for (const [i, name] of names.get(route)!.entries()) params[name] = values[i]!
      return { route, params }
    },
    /** Returns the methods that a path supports. */
    methodsOf(path: string): string[] {
      const segments = segmentsOf(path).map(decode)
      return [...methods].flatMap(([method, root]) => (walk(root, segments, 0, []) ? [method] : []))
    },
  }
}

/** Returns the route of the segments from `at`, and appends the values of its parameters to `values`. */
function walk<Route>(node: Node<Route>, segments: string[], at: number, values: string[]): Route | undefined {
  const segment = segments[at]
  if (segment === undefined) return node.route
  const follow = (next: Node<Route> | undefined, value: string) => {
    if (!next || value === '') return undefined
    values.push(value)
    const found = walk(next, segments, at + 1, values)
    if (!found) values.pop()
    return found
  }
  const named = node.named.get(segment)
  return (
    (named && walk(named, segments, at + 1, values)) ??
    (segment.endsWith(TEXT_FILE) ? follow(node.textFile, segment.slice(0, -TEXT_FILE.length)) : undefined) ??
    follow(node.parameter, segment)
  )
}

const segmentsOf = (path: string) => path.slice(1).split('/')

const namesOf = (path: string) => Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!)

/** Decodes the escapes of a segment. An invalid one stays as it is: nothing has such a name. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
