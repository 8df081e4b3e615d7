"""The batch that Stage III computes on: B queries with up to K candidates each, as padded tensors.

Legend: B queries, K candidates, F = 4 features. `*_BK` tensors are padded where `mask_BK` is False; what
stands in the padding is never read. Times are int64 µs UTC. `collate.py` fills a batch from cells.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from enum import IntEnum, IntFlag

import torch
from torch import Tensor

from calm.errors import InvalidOption


class Intent(IntEnum):
    """What a question asks about (DESIGN 5.1). The numbers index tensors: append, never renumber."""

    CURRENT = 0
    HISTORICAL = 1
    AS_OF = 2
    CHANGE = 3
    TIMELESS = 4


class Reason(IntFlag):
    """Why a candidate was blocked; one bit each in `reasons_BK`. The lower-case name is the contract's code."""

    NONE = 0
    EMPTY = 1
    NO_OWNER = 2
    WRONG_USER = 4
    OUT_OF_SCOPE = 8
    NOT_YET_KNOWN = 16
    ARCHIVED = 32
    NOT_VALID_AT = 64
    SUPERSEDED = 128
    DOMINATED = 256
    STALE = 512
    UNVERIFIED = 1024
    LOW_SCORE = 2048
    OVER_BUDGET = 4096
    DUPLICATE_OF = 8192

    def codes(self) -> list[str]:
        """The contract's reason codes, in the order in which the pipeline checks them."""
        return [reason.name.lower() for reason in Reason if reason and reason in self and reason.name]


NO_OWNER = -1
ANY_SCOPE = -1
GLOBAL = 0


@dataclass(frozen=True, slots=True, eq=False)
class CandidateBatch:
    """R_k of B queries, padded to K.

    Identity and time
      mask_BK bool            a real candidate stands here
      owner_BK int64          code of the owner, NO_OWNER where the record has none
      query_owner_B int64     code of the asking user, NO_OWNER where none was given (then no tenant check)
      scope_BK int64          code of the scope, GLOBAL = 0
      query_scope_B int64     code of the query's scope, ANY_SCOPE where none was given
      now_B int64             the instant that the question is about (query time, or as-of instant)
      intent_B int64          `Intent`
      time_BK int64           event time of the latest visible assertion; read only where dated_BK
      dated_BK bool
      valid_from_BK, valid_to_BK int64   explicit half-open applicability, MIN_US / MAX_US where unbounded
    Lifecycle as of now_B (from `lifecycle.py`)
      known_BK bool           some assertion is visible on the chosen time axis
      state_BK int64          `State`
      validity_BK float       stored validity in [0, 1]
      confidence_BK float     in [0, 1]: the validity before any cap
      reliability_BK float    source reliability in (0, 1]
      asserts_BK bool         states how things are: may dominate and be dominated
      type_BK int64           `SemanticType`
      verified_BK bool        False: depends on evidence that is missing
      contested_BK bool       in a strong conflict that time can't decide
    Query-conditioned
      relevance_BK float      the retriever's relevance in [0, 1]
      entity_fit_BK float     agreement of the named entities and subject, in [0, 1]
      frame_fit_BK float      agreement of the life area that the text applies to, in [0, 1]
      dependency_risk_BK float  in [0, 1]
      empty_BK bool           no text
      cost_BK int64           tokens that the packed line takes
    """

    mask_BK: Tensor
    owner_BK: Tensor
    query_owner_B: Tensor
    scope_BK: Tensor
    query_scope_B: Tensor
    now_B: Tensor
    intent_B: Tensor
    time_BK: Tensor
    dated_BK: Tensor
    valid_from_BK: Tensor
    valid_to_BK: Tensor
    known_BK: Tensor
    state_BK: Tensor
    validity_BK: Tensor
    confidence_BK: Tensor
    reliability_BK: Tensor
    asserts_BK: Tensor
    type_BK: Tensor
    verified_BK: Tensor
    contested_BK: Tensor
    relevance_BK: Tensor
    entity_fit_BK: Tensor
    frame_fit_BK: Tensor
    dependency_risk_BK: Tensor
    empty_BK: Tensor
    cost_BK: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """(B, K)."""
        return (self.mask_BK.shape[0], self.mask_BK.shape[1])

    def to(self, device: torch.device) -> CandidateBatch:
        """The same batch on `device`."""
        return CandidateBatch(**{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def resolve_device(name: str) -> torch.device:
    """ "cpu", "cuda", "cuda:1" as asked; "auto" is CUDA where there is one, else the CPU, and says so once.

    Raises `InvalidOption` for a device that torch doesn't know or this machine doesn't have.
    """
    if name != "auto":
        return _named_device(name)
    if torch.cuda.is_available():
        return torch.device("cuda")
    warnings.warn("no CUDA device: calm runs on the CPU", stacklevel=2)
    return torch.device("cpu")


def _named_device(name: str) -> torch.device:
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidOption(f"no device {name!r}: {reason}", field="device", hint='"auto", "cpu" or "cuda"') from error
