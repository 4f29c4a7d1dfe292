"""A policy for use elsewhere: ONNX, or plain tensors with a description."""
