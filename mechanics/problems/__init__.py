"""Motions of trees and mechanisms as problems; straight-line code for one model; watches."""
