"""A detector that reads each memory once: lower layers over one memory alone, upper layers over the joined pair.

What the lower layers make of a memory does not depend on the pair, so it is computed once and kept. A pair is "[CLS]",
the older memory's "text [SEP]" and the newer one's; what says which is which is added at the join.

Legend: B pairs or memories, L tokens, H hidden size, C classes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertModel,
    BertPreTrainedModel,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from calm.models.detector import head_settings


class LateJoinConfig(BertConfig):
    """A BERT's config, how many of its layers read a memory alone, and the id of its "[CLS]"."""

    model_type = "calm-late-join"

    def __init__(self, lower_layers: int = 3, start_id: int = 101, **bert: Any) -> None:
        super().__init__(**bert)
        self.lower_layers = lower_layers
        self.start_id = start_id


class LateJoin(BertPreTrainedModel):  # type: ignore[misc]
    """Three classes of a pair, from a BERT whose layers below `config.lower_layers` see one memory only."""

    config_class = LateJoinConfig

    def __init__(self, config: LateJoinConfig) -> None:
        super().__init__(config)
        self.num_labels = config.num_labels
        self.bert = BertModel(config)
        self.roles = nn.Embedding(2, config.hidden_size)
        self.dropout = nn.Dropout(config.classifier_dropout or 0.0)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor, **_: Any
    ) -> SequenceClassifierOutput:
        """Logits (B, C) of pairs in BERT's form, "[CLS] older [SEP] newer [SEP]"; all three inputs are (B, L).

        Equals `join` over `read`, which keep what can be kept; in one piece it trains like any other model.
        """
        blocks_BL = token_type_ids + 1
        blocks_BL[:, 0] = 0
        own_BLL = (blocks_BL[:, :, None] == blocks_BL[:, None, :]) & attention_mask[:, None, :].bool()
        states_BLH = self._lower(input_ids, _positions(blocks_BL), own_BLL[:, None])
        roles_BLH = self.roles(token_type_ids) * (blocks_BL > 0)[:, :, None]
        return SequenceClassifierOutput(logits=self._upper_logits(states_BLH + roles_BLH, attention_mask))

    def read(self, ids_BL: torch.Tensor, mask_BL: torch.Tensor) -> torch.Tensor:
        """What the lower layers make of memories alone, "text [SEP]" each: (B, L, H), to be kept."""
        positions_BL = torch.arange(1, ids_BL.shape[1] + 1, device=ids_BL.device).expand_as(ids_BL)
        return self._lower(ids_BL, positions_BL, mask_BL[:, None, None, :].bool())

    def join(
        self, older_BLH: torch.Tensor, older_BL: torch.Tensor, newer_BLH: torch.Tensor, newer_BL: torch.Tensor
    ) -> torch.Tensor:
        """Logits (B, C) of pairs of read memories; the masks (B, L) say which tokens are there."""
        count = len(older_BLH)
        start_B1H = self._start().expand(count, 1, -1)
        states_BLH = torch.cat([start_B1H, older_BLH + self.roles.weight[0], newer_BLH + self.roles.weight[1]], dim=1)
        mask_BL = torch.cat([older_BL.new_ones(count, 1), older_BL, newer_BL], dim=1)
        return self._upper_logits(states_BLH, mask_BL)

    def _start(self) -> torch.Tensor:
        """[CLS] through the lower layers: it sees itself alone, so it is the same for every pair. (1, 1, H)."""
        ids = torch.full((1, 1), self.config.start_id, device=self.classifier.weight.device)
        return self._lower(ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool)[:, None, None, :])

    def _lower(self, ids_BL: torch.Tensor, positions_BL: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        """(B, L, H). `seen`, (B, 1, L or 1, L), says which tokens each token may look at."""
        states_BLH: torch.Tensor = self.bert.embeddings(
            input_ids=ids_BL, token_type_ids=torch.zeros_like(ids_BL), position_ids=positions_BL
        )
        additive = self._additive(seen)
        for layer in self.bert.encoder.layer[: self.config.lower_layers]:
            states_BLH = layer(states_BLH, additive)
        return states_BLH

    def _upper_logits(self, states_BLH: torch.Tensor, mask_BL: torch.Tensor) -> torch.Tensor:
        additive = self._additive(mask_BL[:, None, None, :].bool())
        for layer in self.bert.encoder.layer[self.config.lower_layers :]:
            states_BLH = layer(states_BLH, additive)
        logits: torch.Tensor = self.classifier(self.dropout(self.bert.pooler(states_BLH)))
        return logits

    def _additive(self, seen: torch.Tensor) -> torch.Tensor:
        """0 where attention may look and the dtype's lowest number where not: a padded row stays finite."""
        dtype = self.classifier.weight.dtype
        return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(~seen, torch.finfo(dtype).min)


def _positions(blocks_BL: torch.Tensor) -> torch.Tensor:
    """0 for [CLS], and from 1 within each memory, so that a memory is read the same on either side."""
    index_BL = torch.arange(blocks_BL.shape[1], device=blocks_BL.device).expand_as(blocks_BL)
    first_B1 = torch.where(blocks_BL == 2, index_BL, blocks_BL.shape[1]).amin(dim=1, keepdim=True)
    return torch.where(index_BL >= first_B1, index_BL - first_B1 + 1, index_BL)


def late_join(base: str, lower_layers: int = 3, dropout: float = 0.1, seed: int = 0) -> LateJoin:
    """A late-join detector that begins as the BERT `base` (folder or hub id), with a new head and equal roles.

    Raises `ValueError` where `lower_layers` leaves no layer to join in.
    """
    torch.manual_seed(seed)
    bert = BertConfig.from_pretrained(base).to_dict() | head_settings(dropout) | {"architectures": ["LateJoin"]}
    start_id = AutoTokenizer.from_pretrained(base).cls_token_id
    config = LateJoinConfig(lower_layers, start_id, **{k: v for k, v in bert.items() if k != "model_type"})
    if not 0 <= lower_layers < config.num_hidden_layers:
        raise ValueError(
            f"lower_layers {lower_layers}: the encoder has {config.num_hidden_layers} layers, one must join"
        )
    model = LateJoin(config)
    encoder = BertModel.from_pretrained(base, dtype=torch.float32)
    model.bert.load_state_dict(encoder.state_dict())
    nn.init.zeros_(model.roles.weight)
    return model.train()


AutoConfig.register(LateJoinConfig.model_type, LateJoinConfig, exist_ok=True)
AutoModelForSequenceClassification.register(LateJoinConfig, LateJoin, exist_ok=True)
