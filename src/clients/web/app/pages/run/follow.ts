import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** So near to the end counts as at the end, in pixels. */
const NEAR = 32

/** Keeps a box at its end while it grows, until the reader scrolls up; at the end again, it follows again. */
export function useFollow(
  box: RefObject<HTMLElement | null>,
  isLive: boolean,
): {
  isFollowing: Signal<boolean>
  onScroll: () => void
  follow: () => void
} {
  const isFollowing = useSignal(isLive)
  const last = useRef(0)
  const toEnd = () => {
    const found = box.current
    if (found) found.scrollTop = found.scrollHeight
  }
  // Rows are measured while they render, so the end moves with each render.
  useLayoutEffect(() => {
    if (isFollowing.peek() && isLive) toEnd()
  })
  return {
    isFollowing,
    onScroll: () => {
      const { scrollTop, scrollHeight, clientHeight } = box.current!
      if (scrollHeight - scrollTop - clientHeight < NEAR) isFollowing.value = true
      else if (scrollTop < last.current - 1) isFollowing.value = false
      last.current = scrollTop
    },
    follow: () => {
      isFollowing.value = true
      toEnd()
    },
  }
}
