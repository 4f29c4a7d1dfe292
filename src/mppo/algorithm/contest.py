"""A picking rule for paths that differ: who leads, who may still overtake, and whom to try next.

The paper's rule compares the levels of J after one batch each. Among styles of exploration that is
not enough: a path with a good start is not the one that learns fastest, and where nothing is paid
yet all levels are equal. This rule knows how noisy its J is and how fast each path still grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from mppo.algorithm.picking import best_known
from mppo.algorithm.population import Member, Progress
from mppo.errors import check_ranges
from mppo.machine.lazy import jax, jnp

SLOW = 0.1  # of the spread of J: a lead that is to gain less than this no longer grows
ENOUGH = 0.1  # of the range of all returns: below, a path is hardly paid
SURE = 2.0  # standard errors beyond which J is not the luck of single episodes
FEW = 3  # picks in a lull for a path that was never paid


class Standing(NamedTuple):
    """What the rule makes of K paths."""

    lead: jax.Array  # the most picked of those that the best one does not clearly beat
    stalled: jax.Array  # whether the lead no longer grows
    open: jax.Array  # [K] whether it may still overtake the lead
    soon: jax.Array  # [K] whether it would within the picks ahead


@dataclass(frozen=True)
class Contest:
    """The leading path and, in turn with it, those that may still overtake it.

    The lead is the most picked of the paths that are not clearly worse than the best: what was
    learnt so far is not left for a difference that may be noise. A path may overtake while
    J + caution * error + ahead * growth lies above J + ahead * growth of the lead; one that was
    never tried, if it won its place with as much in a race, or was in none and the lead no longer
    grows. A lead that no longer grows waits while there is such a path, and takes turns with those
    that grow from further behind. If there is none of either, one pick in three goes to whoever had
    fewer than `trial`, in the order of the paths: what a path can learn is not seen in one batch.
    Once all had as many, one pick in four goes to the first path, unless that is too far behind.

    While no path is paid more than by chance, and a tenth of the best return, paths with a bonus of
    their own learn from it, and every `share`-th pick tries one of the others; one that was never
    paid is then drawn anew. Winners of the race who were paid in it are tried before.

    With `races_again`, both in such a lull and while nothing is paid, some iterations are further
    rounds of the race (`races`), and paths that were never paid have shorter trials.

    Two of three picks go to the first path until it had `patience` of them, whatever the others do.
    """

    caution: float = 1.0
    """Standard errors that J may be off."""
    ahead: float = 50.0
    """Picks over which the growth of a path is expected to go on."""
    patience: int = 20
    """Picks of the first path before the others have the same right."""
    share: int = 10
    """While nothing is paid: one pick in so many goes to paths without a bonus."""
    looks_back: int = 10
    """Picks of the lead from which it is told whether it still grows."""
    recent: int = 10
    """Picks of a path from which its growth is told."""
    trial: int = 0
    """Picks that every path may have once the lead no longer grows."""
    comeback: float = 0.0
    """Share of the lead's pay that the first path must have to be tried again while nobody grows:
    batches of a path that is far behind cost samples, and spoil a V that is shared."""
    races_again: bool = False
    """Whether the race has more rounds later, while nothing is paid or the lead no longer grows."""
    promising: float = 0.0
    """Share of the lead's pay with which a random policy gives hope for a better one: the rounds
    are then in every third iteration in which the lead no longer grows; 0: never so often."""

    def __post_init__(self) -> None:
        check_ranges(self, caution=(0, inf), ahead=(0, inf), patience=(0, inf), share=(1, inf))
        check_ranges(self, looks_back=(3, inf), recent=(3, inf), trial=(0, inf))
        check_ranges(self, comeback=(0, 1), promising=(0, inf))

    def standing(self, population: Member) -> Standing:
        """Who leads and who may overtake."""
        progress: Progress = population.progress
        picks, performance = population.record.picks, population.performance
        tried, error = picks > 0, self.caution * errors_of_j(population)
        known = jnp.where(tried, performance, -jnp.inf)
        best = jnp.argmax(known)
        level = known + error >= performance[best] - error[best]
        lead = jnp.argmax(jnp.where(level, picks + jax.nn.sigmoid(known - known[best]), -1.0))
        newest = progress.means[:, -self.recent :], progress.errors[:, -self.recent :]
        grows = jax.vmap(growth)(*newest)
        steady = growth(progress.means[lead], progress.errors[lead])
        soon = performance + self.ahead * grows
        spread = performance[best] - jnp.min(jnp.where(tried, performance, jnp.inf))
        slow = self.ahead * steady <= SLOW * spread
        stalled = slow & (picks[lead] >= self.recent)
        comes = jnp.where(tried, soon + error >= soon[lead], progress.raced >= soon[lead])
        comes = comes | (~tried & jnp.isneginf(progress.raced) & stalled)  # nothing is known of it
        later = tried & stalled & (self.ahead * grows > SLOW * spread)
        return Standing(lead, stalled, comes | later, comes)

    def pick(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        paid = self._while_paid(population, iteration)
        unpaid = self._while_nothing_is_paid(population, iteration)
        pick = jnp.where(jnp.any(is_paid(population)), paid, unpaid)
        waits = (population.record.picks[0] < self.patience) & (iteration % 3 != 2)
        return jnp.where(waits, 0, pick).astype(jnp.int32)

    def _while_paid(self, population: Member, iteration: jax.Array) -> jax.Array:
        """The lead and its challengers take turns."""
        found, progress = self.standing(population), population.progress
        picks, others = population.record.picks, self._challengers(population, found)
        soon = found.stalled & jnp.any(others & found.soon)
        others = jnp.where(soon, others & found.soon, others)
        turn = ((iteration % 2 == 1) | soon) & jnp.any(others)
        pick = jnp.where(turn, _least_picked(population, others), found.lead)
        lowest, performance = jnp.min(progress.lowest), population.performance
        near = performance[0] - lowest >= self.comeback * (performance[found.lead] - lowest)
        lull = found.stalled & ~jnp.any(others)
        few = min(self.trial, FEW) if self.races_again else self.trial  # of those never paid
        trials = jnp.where(varied(progress), self.trial, few)
        waiting = (picks < trials) & (jnp.arange(len(picks)) != found.lead)
        due = lull & (iteration % 3 == 1) & jnp.any(waiting)
        pick = jnp.where(due, jnp.argmax(waiting), pick)
        back = lull & ~due & (iteration % 4 == 3) & near
        return jnp.where(back, 0, pick)  # learning may begin again after a lull

    def _while_nothing_is_paid(self, population: Member, iteration: jax.Array) -> jax.Array:
        """Paths with a bonus, and now and then the others, if not just by chance someone is."""
        progress = population.progress
        curious = progress.curious | ~jnp.any(progress.curious)
        claims = _claims(population)
        try_other = (iteration % self.share == self.share - 1) & ~jnp.all(curious)
        others = ~curious
        if self.races_again:  # those who race are tried there, many in one batch
            aside = others & jnp.isneginf(progress.raced)
            others = jnp.where(jnp.any(aside), aside, others)
        among = jnp.where(jnp.any(claims), claims, jnp.where(try_other, others, curious))
        return _least_picked(population, among)

    def _challengers(self, population: Member, found: Standing) -> jax.Array:
        """Paths [K] that may be picked in place of the lead."""
        picks = population.record.picks
        others = found.open & (jnp.arange(len(picks)) != found.lead)
        return others & (found.stalled | (picks < picks[found.lead]))

    def races(self, population: Member, iteration: jax.Array) -> jax.Array:
        """Whether this iteration is a further round of the race.

        Rounds come while nothing is paid, or while the lead no longer grows and nobody challenges
        it: at iterations 6, 10, 15, 21, 28, ..., less and less often, since what many random
        policies did not find is hard to find so. Where one of them was paid well, a better one is
        likely enough for every third iteration of a lull.
        """
        found, progress = self.standing(population), population.progress
        lull = found.stalled & ~jnp.any(self._challengers(population, found))
        nothing = ~jnp.any(is_paid(population)) & ~jnp.any(_claims(population))
        lowest, performance = jnp.min(progress.lowest), population.performance
        pay = performance[found.lead] - lowest
        good = (self.promising > 0) & (jnp.max(progress.raced) - lowest >= self.promising * pay)
        now = is_triangular(iteration) | (lull & good & (iteration % 3 == 2))
        return self.races_again & now & (lull | nothing)

    def at_stake(self, population: Member) -> jax.Array:
        """What a random policy must be paid more than to take a place [K] in a further round.

        The place's J, or what its holder had in the race; where someone is paid, at least as much
        as the lead, whose own place is not at stake.
        """
        progress, picks = population.progress, population.record.picks
        worth = jnp.where(picks > 0, population.performance, progress.raced)
        lead = self.standing(population).lead
        higher = jnp.maximum(worth, population.performance[lead]).at[lead].set(jnp.inf)
        return jnp.where(jnp.any(is_paid(population)), higher, worth)

    def report(self, population: Member, iteration: jax.Array, key: jax.Array) -> jax.Array:
        """The lead."""
        return best_known(population)

    def renews(self, population: Member, i: jax.Array) -> jax.Array:
        """Whether path i, just rolled out, is to be drawn anew: it has nothing to learn from."""
        progress: Progress = population.progress
        nothing = ~jnp.any(is_paid(population)) & ~varied(progress)[i]
        return nothing & ~progress.curious[i] & jnp.any(progress.curious)


def is_paid(population: Member) -> jax.Array:
    """Whether J of a path lies above the lowest return of all by more than chance [K].

    And by a tenth of the way to the highest: a path that is paid in one episode of a hundred has
    hardly begun.
    """
    lowest, highest = jnp.min(population.progress.lowest), jnp.max(population.progress.highest)
    surely = population.performance - SURE * errors_of_j(population) > lowest
    enough = population.performance - lowest >= ENOUGH * (highest - lowest)
    some = highest > lowest  # J has a gain in it, which is no pay
    return (population.record.picks > 0) & surely & enough & some


def is_triangular(n: jax.Array) -> jax.Array:
    """Whether n is 1 + 2 + ... + m for some m.

    >>> [n for n in range(30) if is_triangular(jnp.asarray(n))]
    [0, 1, 3, 6, 10, 15, 21, 28]
    """
    m = jnp.floor(jnp.sqrt(2.0 * n)).astype(n.dtype)
    return m * (m + 1) == 2 * n


def _least_picked(population: Member, among: jax.Array) -> jax.Array:
    """The least picked of some paths; winners of the race come before others."""
    picks = population.record.picks
    winners = jnp.argsort(jnp.argsort(-population.progress.raced)) / len(picks)
    return jnp.argmin(jnp.where(among, picks + winners, jnp.inf))


def _claims(population: Member) -> jax.Array:
    """Winners of the race [K] who were paid in it and wait to be tried."""
    return (population.record.picks == 0) & varied(population.progress)


def varied(progress: Progress) -> jax.Array:
    """Whether some episodes of a path were paid otherwise than others."""
    return progress.highest > progress.lowest


def errors_of_j(population: Member) -> jax.Array:
    """Standard errors [K] of the mean over the returns that each path remembers; 0 below two."""
    record = population.record
    if record.returns.shape[-1] == 0:
        return record.standard_error

    def one(returns: jax.Array, finished: jax.Array) -> jax.Array:
        filled = jnp.arange(returns.shape[0]) < finished
        n = jnp.sum(filled)
        mean = jnp.sum(jnp.where(filled, returns, 0.0)) / jnp.maximum(n, 1)
        total = jnp.sum(jnp.where(filled, (returns - mean) ** 2, 0.0))
        return jnp.sqrt(total / jnp.maximum(n * (n - 1), 1))

    return jax.vmap(one)(record.returns, record.finished)


def growth(means: jax.Array, errors: jax.Array) -> jax.Array:
    """Least-squares slope of J over a path's last picks less its standard error; 0 at least.

    >>> two = jnp.array([jnp.nan, 1.0, 3.0, 5.0])
    >>> print(growth(two, jnp.zeros(4)), growth(-two, jnp.zeros(4)))
    2.0 0.0
    """
    known = ~jnp.isnan(means)
    n = jnp.sum(known)
    time = jnp.arange(means.shape[0], dtype=means.dtype)
    time = jnp.where(known, time - jnp.sum(time * known) / jnp.maximum(n, 1), 0.0)
    spread = jnp.maximum(jnp.sum(time**2), 1e-12)
    slope = jnp.sum(time * jnp.where(known, means, 0.0)) / spread
    error = jnp.sqrt(jnp.sum((time * jnp.where(known, errors, 0.0)) ** 2)) / spread
    return jnp.where(n >= 3, jnp.maximum(slope - error, 0.0), 0.0)
